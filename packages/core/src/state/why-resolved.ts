// Why an attention item is over, in the words of the event that ended it: what happened, and who did it.
import { isIn } from '../log/typed-line.ts';
import { shownStatus } from '../runs/worker-statuses.ts';
import { short } from './board-entities.ts';
import type { Worker } from './board-types.ts';
import type { LineOf } from './fold-context.ts';

/** The worker is as the line left it. */
export function whyResolved(line: LineOf, worker: Worker, reason: string): string {
  return `Resolved: ${reason === 'signal-corrupt' && !worker.removed ? 'its status file can be read again' : endedBy(line, worker)}`;
}

function endedBy(line: LineOf, worker: Worker): string {
  switch (line.event) {
    case 'agent.request.answered':
      return answerWords(line);
    case 'agent.request.opened':
      return 'the agent asks for something else';
    case 'agent.turn.started':
      return 'the agent goes on';
    case 'agent.turn.ended':
      return 'the agent no longer waits for an answer';
    case 'agent.session.started':
      return 'a new agent was started';
    case 'agent.session.ended':
      return 'the agent has ended';
    case 'agent.limit.over':
      return 'the usage limit is over';
    case 'agent.limit.reached':
      return 'the agent waits for the end of a usage limit';
    case 'agent.stopped':
      return `${short(line.detail.by) ?? 'a person'} stopped the agent`;
    case 'orchestrator.worker.removed':
      return 'its status file was deleted, so svc no longer tracks it';
    case 'orchestrator.worker.retried':
      return `${short(line.detail.by) ?? 'a person'} started the ticket again`;
    case 'orchestrator.worker.revived':
      return 'its process is running';
    case 'orchestrator.worker.died':
      return 'its process has ended';
    case 'orchestrator.worker.recalled':
      return 'its agent is started again';
    case 'orchestrator.verification.started':
      return 'it is verified again';
    case 'orchestrator.verification.passed':
      return 'the verification passed';
    case 'orchestrator.verification.remediation_filed':
      return `it was filed as ${worker.verification?.remediation ?? 'a finding'}`;
    case 'orchestrator.deploy.retried':
      return `${short(line.detail.by) ?? 'a person'} retried the deploy`;
    case 'orchestrator.deploy.accepted':
      return `${short(line.detail.by) ?? 'a person'} accepted it as done`;
    case 'orchestrator.deploy.descendant_checked':
      return 'a deployment is proven to contain the merge';
    case 'codehost.pr.merged':
      return 'its pull request was merged';
    case 'codehost.pr.closed':
      return 'its pull request was closed';
    case 'codehost.pr.opened':
      return 'its pull request was opened';
    case 'codehost.pr.reopened':
      return 'its pull request was opened again';
    case 'codehost.deployment_status.success':
      return 'a deployment succeeded';
    case 'comms.attention':
      return 'it was over before it was shown';
    default:
      return endedByFamily(line, worker);
  }
}

function answerWords({ detail }: LineOf<'agent.request.answered'>): string {
  const { answer, by } = detail;
  if (answer === 'withdrawn') return 'the agent withdrew its request';
  if (answer === 'cancelled')
    return by === undefined ? 'the agent has ended' : `${short(by)} stopped the agent`;
  return by === undefined ? 'it was answered' : `${short(by)} answered it`;
}

function endedByFamily(line: LineOf, { status, merge }: Worker): string {
  if (isIn(line, 'orchestrator.worker'))
    return status === 'canceled' ? 'the ticket was canceled' : `its status is now ${shownStatus(status)}`;
  if (isIn(line, 'codehost.check_suite')) return 'its checks have changed';
  if (isIn(line, 'codehost.pr_review') || isIn(line, 'codehost.pr_review_thread'))
    return 'its review has changed';
  if (isIn(line, 'codehost.pr')) return `its pull request was ${merge === null ? 'seen' : 'merged'}`;
  if (isIn(line, 'codehost.deployment') || isIn(line, 'codehost.deployment_status'))
    return 'another deployment was started';
  if (isIn(line, 'monitor.config') || isIn(line, 'orchestrator.deploy'))
    return 'the deploy policy has changed';
  return 'it no longer needs a person';
}
