// In one sentence: the rule that makes a worker's status what it is, and what would move it on.

import type { DeployProgress } from '../../api/deploy.ts';
import { DEPLOY_BUDGET } from '../../deploy/deploy-worker.ts';
import { isPreMerge, waitsForPolicy } from '../../deploy/standing.ts';
import type { Worker } from '../board-types.ts';
import { mergeReadiness } from '../fold-pull-request.ts';
import { nameOfPullRequest, type Subject, shortSha } from './subject.ts';

export type Wait = { waitsFor: string | null; until: string | null };

const nothing: Wait = { waitsFor: null, until: null };

export function ruleOf(subject: Subject): string {
  const { worker } = subject;
  if (worker === null) return 'No run has a worker for it.';
  if (worker.status === 'done') return whyDone(subject, worker);
  if (worker.deploy !== null) return whyDeploying(worker, worker.deploy, nameOf(subject));
  if (waitsForPolicy(worker))
    return `${nameOf(subject)} is merged, and whether ${worker.repo ?? 'its repository'} needs proof of a deployment is unknown: the project's configuration cannot be read.`;
  if (worker.claim !== null)
    return `The signal file says ${worker.claim.status}, which nothing that was seen proves: it stays ${worker.status}.`;
  if (worker.status === 'canceled') return 'The signal file says canceled, and a canceled worker stays so.';
  return isPreMerge(worker.status)
    ? `The signal file says ${worker.status}, and nothing that was seen says more.`
    : `The signal file says ${worker.status}, and no merge was seen since.`;
}

export function waitOf(subject: Subject): Wait {
  const { worker, pullRequest } = subject;
  if (worker === null) {
    if (pullRequest?.state !== 'open') return nothing;
    return { waitsFor: waitOfPullRequest(subject), until: null };
  }
  if (worker.status === 'done') return nothing;
  if (worker.deploy !== null) return waitOfDeploy(worker, worker.deploy);
  if (waitsForPolicy(worker))
    return {
      waitsFor: `a configuration that can be read (svc config validate), or a person: svc deploy accept ${worker.ticket}`,
      until: null,
    };
  if (worker.claim?.status === 'done')
    return { waitsFor: `a merge that is seen, or a person: svc deploy accept ${worker.ticket}`, until: null };
  return isPreMerge(worker.status) ? { waitsFor: waitOfPullRequest(subject), until: null } : nothing;
}

function whyDone(subject: Subject, worker: Worker): string {
  const { deploy, merge, repo } = worker;
  if (merge === null || deploy?.result === 'accepted') return 'A person accepted it as done.';
  const proof = deploy?.provenBy ?? null;
  if (proof === null)
    return `${nameOf(subject)} is merged, and ${repo ?? 'its repository'} is configured without proof of a deployment.`;
  const isMerge = merge.sha === null || proof.sha === merge.sha;
  const what = isMerge
    ? shortSha(proof.sha)
    : `${shortSha(proof.sha)} (it contains ${shortSha(merge.sha ?? '')})`;
  return `Deployment ${proof.deploymentId} of ${what} succeeded in ${deploy?.environment}.`;
}

function whyDeploying(worker: Worker, deploy: DeployProgress, pullRequest: string): string {
  const { environment, attempts, deploymentId, deadline, result } = deploy;
  if (result === 'budget-exhausted')
    return `${attempts.length} deployments failed in ${environment}, which is the budget: only a person moves it on.`;
  if (result === 'timeout') return `Nothing had succeeded in ${environment} by the deadline ${deadline}.`;
  if (worker.status === 'deploying')
    return `Deployment ${deploymentId} has started in ${environment} and has not ended.`;
  if (worker.status === 'deploy-failed')
    return `Deployment ${attempts.at(-1)?.deploymentId} failed in ${environment}: ${attempts.length} of ${DEPLOY_BUDGET} attempts are used.`;
  return `${pullRequest} is merged, and no deployment of it has started in ${environment}.`;
}

function waitOfDeploy({ status, ticket, merge }: Worker, deploy: DeployProgress): Wait {
  const { environment, deploymentId, result } = deploy;
  const until = deploy.deadline;
  const person = `a person: svc deploy retry ${ticket}, or svc deploy accept ${ticket}`;
  if (result === 'budget-exhausted') return { waitsFor: person, until: null };
  if (result === 'timeout')
    return { waitsFor: `a late success in ${environment}, or ${person}`, until: null };
  if (status === 'deploying')
    return { waitsFor: `deployment ${deploymentId} to succeed in ${environment}`, until };
  if (typeof merge?.sha !== 'string') return { waitsFor: 'the code host to name the merge commit', until };
  const which = status === 'deploy-failed' ? 'a new deployment' : 'a deployment';
  return { waitsFor: `${which} of ${shortSha(merge.sha)} in ${environment}`, until };
}

function waitOfPullRequest(subject: Subject): string {
  const { pullRequest, worker } = subject;
  if (pullRequest === null || pullRequest.state !== 'open')
    return worker?.status === 'dispatched' ? 'the worker to begin' : 'the next word of the worker';
  const { ready, reasons } = mergeReadiness(pullRequest);
  const name = nameOf(subject);
  if (ready === true) return `${name} to be merged: it is ready`;
  return reasons.length === 0 ? `${name} to be merged` : `${name} to be merged: ${reasons.join(', ')}`;
}

/** The pull request by name, however little is known of it. */
export function nameOf({ pullRequest, worker }: Subject): string {
  if (pullRequest !== null) return nameOfPullRequest(pullRequest);
  if (worker === null || worker.pr === null) return 'The pull request';
  return worker.repo === null
    ? `#${worker.pr.number}`
    : nameOfPullRequest({ repo: worker.repo, number: worker.pr.number });
}
