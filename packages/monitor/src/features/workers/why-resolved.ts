// Why an attention item is over, in the words of the event that ended it: what happened, and who did it.

import { shownStatus } from '@svc/contract/worker-statuses';
import type { LineOf } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { isIn } from '../../kernel/log/typed-line.ts';
import type { Worker } from './worker.ts';

/** The worker is as the line left it. */
export function whyResolved(line: LineOf, worker: Worker, reason: string): string {
  return `Resolved: ${reason === 'signal-corrupt' && !worker.removed ? 'its status file can be read again' : endedBy(line, worker)}`;
}

/** What the event itself says. */
const ends: Readonly<Partial<Record<Topic, string>>> = {
  'agent.request.opened': 'the agent asks for something else',
  'agent.turn.started': 'the agent goes on',
  'agent.turn.ended': 'the agent no longer waits for an answer',
  'agent.session.started': 'a new agent was started',
  'agent.session.ended': 'the agent has ended',
  'agent.limit.over': 'the usage limit is over',
  'agent.limit.reached': 'the agent waits for the end of a usage limit',
  'orchestrator.worker.removed': 'its status file was deleted, so svc no longer tracks it',
  'orchestrator.worker.revived': 'its process is running',
  'orchestrator.worker.died': 'its process has ended',
  'orchestrator.worker.recalled': 'its agent is started again',
  'orchestrator.verification.started': 'it is verified again',
  'orchestrator.verification.passed': 'the verification passed',
  'orchestrator.deploy.descendant_checked': 'a deployment is proven to contain the merge',
  'codehost.pr.merged': 'its pull request was merged',
  'codehost.pr.closed': 'its pull request was closed',
  'codehost.pr.opened': 'its pull request was opened',
  'codehost.pr.reopened': 'its pull request was opened again',
  'codehost.deployment_status.success': 'a deployment succeeded',
  'comms.attention': 'it was over before it was shown',
};

/** What a person did; the name comes before it. */
const acts: Readonly<Partial<Record<Topic, string>>> = {
  'agent.stopped': 'stopped the agent',
  'orchestrator.worker.retried': 'started the ticket again',
  'orchestrator.deploy.retried': 'retried the deploy',
  'orchestrator.deploy.accepted': 'accepted it as done',
};

function endedBy(line: LineOf, worker: Worker): string {
  if (line.event === 'agent.request.answered') return answerWords(line);
  if (line.event === 'orchestrator.verification.remediation_filed')
    return `it was filed as ${worker.verification?.remediation ?? 'a finding'}`;
  const act = acts[line.event];
  const by = 'by' in line.detail ? short(line.detail.by) : undefined;
  return act === undefined ? (ends[line.event] ?? endedByFamily(line, worker)) : `${by ?? 'a person'} ${act}`;
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
