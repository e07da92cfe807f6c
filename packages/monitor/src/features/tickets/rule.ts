// One sentence each: the rule behind a worker's status, and what it is waiting for.
import { agentSays, claimsPullRequest, isAgentsWork, shownStatus } from '@svc/contract/worker-statuses';
import { pausedBy } from '../agents/limits.ts';
import { mergeReadiness } from '../pull-requests/fold-pull-request.ts';
import type { DeployProgress } from '../workers/deploy-fields.ts';
import { DEPLOY_BUDGET, waitsForPolicy } from '../workers/deploy-stage.ts';
import { isPreMerge, isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { answersTo } from './needs.ts';
import { nameOfPullRequest, type Subject, shortSha } from './subject.ts';

export type Wait = { waitsFor: string | null; until: string | null };

const nothing: Wait = { waitsFor: null, until: null };

export function ruleOf(subject: Subject): string {
  const { worker } = subject;
  if (worker === null) return 'No run works on this ticket.';
  if (isShipped(worker)) return whyDone(subject, worker);
  if (worker.deploy !== null) return whyDeploying(worker, worker.deploy, nameOf(subject));
  if (waitsForPolicy(worker))
    return `${nameOf(subject)} is merged, but the project's configuration cannot be read, so it is unknown whether ${worker.repo ?? 'its repository'} requires a verified deployment.`;
  if (worker.claim !== null)
    return `${agentSays(worker.claim.status)}, but no observed event proves it, so the status stays ${shownStatus(worker.status)}.`;
  if (worker.status === 'canceled') return 'It was canceled. A merge or deployment does not change that.';
  if (isUnseen(subject, worker)) return 'The agent claims a pull request; none was seen.';
  if (worker.status === 'dispatched')
    return hasStarted(worker) ? 'The agent has not said yet what it does.' : 'The agent is starting.';
  return isPreMerge(worker.status)
    ? `${agentSays(worker.status)}.`
    : `${agentSays(worker.status)}, and no merge has been seen since.`;
}

function hasStarted({ agent }: Worker): boolean {
  return agent !== null && agent.state !== null && agent.state !== 'starting';
}

export function waitOf(subject: Subject): Wait {
  const { worker, pullRequest, tracked } = subject;
  if (worker === null) {
    const remedy = tracked?.dispatch?.remedy;
    if (typeof remedy === 'string') return { waitsFor: `a person: ${remedy}`, until: null };
    if (pullRequest?.state !== 'open')
      return tracked?.phase?.held ? { waitsFor: 'a verified deployment of it', until: null } : nothing;
    return { waitsFor: waitOfPullRequest(subject), until: null };
  }
  if (isShipped(worker)) return nothing;
  if (worker.deploy !== null) return waitOfDeploy(worker, worker.deploy);
  if (waitsForPolicy(worker))
    return {
      waitsFor: `a readable configuration (svc config validate), or a person: svc deploy accept ${worker.ticket}`,
      until: null,
    };
  if (worker.agent?.state === 'needs-permission' || worker.agent?.state === 'needs-input')
    return {
      waitsFor: `a person: svc agent answer ${worker.ticket} ${answersTo(worker.agent)}`.trimEnd(),
      until: null,
    };
  const limit = isPreMerge(worker.status) ? pausedBy(worker.agent) : null;
  if (limit?.resumeAt === null) return { waitsFor: `a person: svc agent send ${worker.ticket}`, until: null };
  if (limit !== null) return { waitsFor: 'the end of the provider’s usage limit', until: limit.resumeAt };
  if (isRestarting(worker))
    return {
      waitsFor: `its agent to be started again, or a person: svc orchestrate retry ${worker.orchestrator} ${worker.ticket}`,
      until: null,
    };
  if (worker.raised.includes('pr-closed'))
    return {
      waitsFor: `a person: reopen ${nameOf(subject)}, or svc orchestrate cancel ${worker.orchestrator} ${worker.ticket}`,
      until: null,
    };
  if (needsNewAgent(worker))
    return {
      waitsFor: `a person: svc orchestrate retry ${worker.orchestrator} ${worker.ticket}`,
      until: null,
    };
  if (worker.claim?.status === 'done')
    return { waitsFor: `a merge, or a person: svc deploy accept ${worker.ticket}`, until: null };
  if (isUnseen(subject, worker)) return { waitsFor: waitOfClaim(worker), until: null };
  if (isIdle(worker)) return { waitsFor: `a person: svc agent send ${worker.ticket}`, until: null };
  return isPreMerge(worker.status) ? { waitsFor: waitOfPullRequest(subject), until: null } : nothing;
}

/** Its process has ended, and the run starts another one after a pause. */
function isRestarting({ status, removed, process }: Worker): boolean {
  return !removed && isAgentsWork(status) && process.state === 'dead' && process.reviving === true;
}

/** Its process has ended, and nothing starts another one. The fold has decided that. */
function needsNewAgent({ raised, process }: Worker): boolean {
  return raised.includes('worker-dead') || (raised.includes('worker-stalled') && process.state === 'dead');
}

/** Its agent has ended its turn before its work was done, or a person stopped it. The fold has decided the first. */
function isIdle({ status, removed, raised, agent }: Worker): boolean {
  if (removed || !isAgentsWork(status)) return false;
  return raised.includes('agent-stopped') || (agent?.state === 'idle' && agent.stopped !== null);
}

function isUnseen({ pullRequest }: Subject, { status, removed }: Worker): boolean {
  return pullRequest === null && !removed && claimsPullRequest(status);
}

/** The fold has decided whether it needs a person already. */
function waitOfClaim({ raised, agent, ticket }: Worker): string {
  const seen = 'its pull request to be seen on the code host';
  if (!raised.includes('pr-unproven')) return seen;
  return `${seen}, or a person: ${agent === null ? 'open it in its worktree' : `svc agent send ${ticket}`}`;
}

function whyDone(subject: Subject, worker: Worker): string {
  const { deploy, merge, repo } = worker;
  if (merge === null || deploy?.result === 'accepted') return 'A person accepted it as done.';
  const proof = deploy?.provenBy ?? null;
  if (proof === null)
    return `${nameOf(subject)} is merged, and ${repo ?? 'its repository'} does not require a verified deployment.`;
  const isMerge = merge.sha === null || proof.sha === merge.sha;
  const what = isMerge
    ? shortSha(proof.sha)
    : `${shortSha(proof.sha)} (which contains ${shortSha(merge.sha ?? '')})`;
  return `Deployment ${proof.deploymentId} of ${what} to ${deploy?.environment} succeeded.`;
}

function whyDeploying(worker: Worker, deploy: DeployProgress, pullRequest: string): string {
  const { environment, attempts, deploymentId, deadline, result } = deploy;
  if (result === 'budget-exhausted')
    return `${attempts.length} deployments to ${environment} failed, which exhausts the budget: a person has to decide.`;
  if (result === 'timeout') return `No deployment to ${environment} succeeded by the deadline ${deadline}.`;
  if (worker.status === 'deploying')
    return `Deployment ${deploymentId} to ${environment} has started but not finished.`;
  if (worker.status === 'deploy-failed')
    return `Deployment ${attempts.at(-1)?.deploymentId} to ${environment} failed: ${attempts.length} of ${DEPLOY_BUDGET} attempts used.`;
  return `${pullRequest} is merged, but no deployment to ${environment} has started.`;
}

function waitOfDeploy({ status, ticket, merge }: Worker, deploy: DeployProgress): Wait {
  const { environment, deploymentId, result } = deploy;
  const until = deploy.deadline;
  const person = `a person: svc deploy retry ${ticket} or svc deploy accept ${ticket}`;
  if (result === 'budget-exhausted') return { waitsFor: person, until: null };
  if (result === 'timeout')
    return { waitsFor: `a late deployment to ${environment}, or ${person}`, until: null };
  if (status === 'deploying')
    return { waitsFor: `deployment ${deploymentId} to ${environment} to succeed`, until };
  if (typeof merge?.sha !== 'string') return { waitsFor: 'the code host to report the merge commit', until };
  const which = status === 'deploy-failed' ? 'a new deployment' : 'a deployment';
  return { waitsFor: `${which} of ${shortSha(merge.sha)} to ${environment}`, until };
}

function waitOfPullRequest(subject: Subject): string {
  const { pullRequest, worker } = subject;
  if (pullRequest === null || pullRequest.state !== 'open')
    return worker?.status === 'dispatched' && !hasStarted(worker)
      ? 'the agent to start'
      : "the agent's next update";
  const { ready, reasons } = mergeReadiness(pullRequest);
  const name = nameOf(subject);
  if (ready === true) return `${name} to be merged (it is ready)`;
  return reasons.length === 0 ? `${name} to be merged` : `${name} to be merged: ${reasons.join(', ')}`;
}

/** The name of the pull request, however little is known about it. */
export function nameOf({ pullRequest, worker }: Subject): string {
  if (pullRequest !== null) return nameOfPullRequest(pullRequest);
  if (worker === null || worker.pr === null) return 'The pull request';
  return worker.repo === null
    ? `#${worker.pr.number}`
    : nameOfPullRequest({ repo: worker.repo, number: worker.pr.number });
}
