// Facts that are already on the board, for a worker that is linked to them later: the merge of its pull request and the
// deployments since. So the order of these events in the log does not matter.
import { repoKey } from '@svc/contract/repo-name';
import type { Board } from '../../kernel/board/board.ts';
import type { FoldContext } from '../../kernel/board/fold-context.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { isOlder } from '../../kernel/board/line-values.ts';
import { linked } from '../../kernel/board/links.ts';
import { pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import { mergesOf } from '../workers/deploy-stage.ts';
import { isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { withFact } from './deploy-effects.ts';
import { type DeployFact } from './deploy-worker.ts';
import type { Deployment } from './deployment.ts';
import { isSameEnvironment } from './policy.ts';
import { withCarriers } from './stacked.ts';

/** How many of the newest deployments of other commits are checked: one of them may contain the merge. */
const OTHERS_CHECKED = 10;

export function withKnownFacts(context: FoldContext, worker: Worker): Worker {
  const merge = pullRequestOfWorker(context.board, worker)?.merge;
  const merged = merge ? withFact(context, worker, { kind: 'merged', ...merge }) : worker;
  return withKnownDeployments(context, withCarriers(context, merged));
}

export function withKnownDeployments(context: FoldContext, worker: Worker): Worker {
  const { repo, merge, deploy } = worker;
  if (repo === null || deploy === null || isShipped(worker) || typeof merge?.sha !== 'string') return worker;
  const counted = [...mergesOf(worker), ...deploy.containedIn].flatMap((sha) =>
    factsOfCommit(context.board, repo, sha),
  );
  counted.sort((one, other) => one.seq - other.seq);
  let next = worker;
  for (const fact of counted) next = withFact(context, next, fact);
  for (const fact of newestOfOthers(context.board, next, repo)) next = withFact(context, next, fact);
  return next;
}

/** Applies the deployments of a commit that was just proven to contain the merge. */
export function withDeploymentsOf(context: FoldContext, worker: Worker, sha: string): Worker {
  if (worker.repo === null) return worker;
  const facts = factsOfCommit(context.board, worker.repo, sha).toSorted((one, other) => one.seq - other.seq);
  return facts.reduce((next, fact) => withFact(context, next, fact), worker);
}

export function deploymentFact(deployment: Deployment, entered: Deployment['states'][number]): DeployFact {
  const { id, sha, task, description, logUrl } = deployment;
  const { state, environment, at, seq } = entered;
  return {
    kind: 'deployment',
    seq,
    at,
    id,
    sha,
    environment,
    task,
    state,
    ...(description !== null && { description }),
    ...(logUrl !== null && { logUrl }),
  };
}

export function factsOfCommit(board: Board, repo: string, sha: string): DeployFact[] {
  return linked(board.links.deploymentsByCommit, commitKey(repo, sha)).flatMap((key) => {
    const deployment = board.deployments.get(key);
    return deployment ? deployment.states.map((entered) => deploymentFact(deployment, entered)) : [];
  });
}

function newestOfOthers(board: Board, worker: Worker, repo: string): DeployFact[] {
  const { merge, deploy, policy } = worker;
  if (!policy.acceptDescendants || merge === null || deploy === null) return [];
  const facts: DeployFact[] = [];
  for (const id of board.links.newestDeployments.get(repoKey(repo)) ?? []) {
    if (facts.length === OTHERS_CHECKED) break;
    const deployment = board.deployments.get(pullRequestKey(repo, id));
    if (deployment === undefined) continue;
    // Ids increase: a deployment created before the merge cannot contain it, nor can any older one.
    if (isOlder(deployment.states[0]?.at ?? null, merge.at)) break;
    const newest = deployment.states.findLast(
      ({ state, environment }) => state !== 'inactive' && isSameEnvironment(environment, deploy.environment),
    );
    if (newest === undefined) continue;
    if (mergesOf(worker).includes(deployment.sha) || deploy.containedIn.includes(deployment.sha)) continue;
    facts.push(deploymentFact(deployment, newest));
  }
  return facts.toSorted((one, other) => one.seq - other.seq);
}
