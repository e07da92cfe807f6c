// Events of deployments and deploys: states, proofs, deadlines, a person's decision.
import { repoKey } from '@svc/contract/repo-name';
import { type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { isOlder, short, timeOf } from '../../kernel/board/line-values.ts';
import { linked } from '../../kernel/board/links.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { deploymentStates } from '../codehost/topics.ts';
import { putPullRequest } from '../pull-requests/slice.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import type { Worker } from '../workers/worker.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import type { DeploymentState } from './api.ts';
import { othersWithMerge, withFact, withRefuted } from './deploy-effects.ts';
import type { DeployFact } from './deploy-worker.ts';
import type { Deployment } from './deployment.ts';
import { deploymentFact, withDeploymentsOf, withKnownDeployments } from './known-facts.ts';
import { isSameEnvironment } from './policy.ts';
import { withPreviewOf } from './previews.ts';
import { putDeployment } from './slice.ts';
import { withCarriers } from './stacked.ts';

// A deployment after one more of its events. Each state is kept once for each environment, because a deployment may be
// promoted from one environment to another; the newest by its own time is the current one, and at the same time the one
// that comes later in the order below.

const order: Record<DeploymentState, number> = {
  created: 0,
  queued: 1,
  waiting: 1,
  pending: 1,
  in_progress: 2,
  failure: 3,
  error: 3,
  success: 3,
  inactive: 4,
};
const states: ReadonlyMap<string, DeploymentState> = new Map([
  ['codehost.deployment.created', 'created'],
  ...deploymentStates.map((state) => [`codehost.deployment_status.${state}`, state] as const),
]);
const statusTopics = topicsIn('codehost.deployment_status', deploymentStates);
type DeploymentLine = LineOf<'codehost.deployment.created' | (typeof statusTopics)[number]>;

export function reduceDeployment(
  known: Deployment | undefined,
  line: DeploymentLine,
): Deployment | undefined {
  const { scope, seq, via } = line;
  const state = states.get(line.event);
  const status = line.event === 'codehost.deployment.created' ? undefined : line.detail;
  const production =
    line.event === 'codehost.deployment.created' ? line.detail.productionEnvironment : undefined;
  const { repo, deploymentId: id } = scope;
  const sha = scope.sha ?? known?.sha;
  const environment = scope.environment ?? known?.environment;
  if (state === undefined || repo === undefined || id === undefined) return known;
  if (sha === undefined || environment === undefined) return known;
  // A deployment has one commit: a state of another commit under the same id proves nothing about either.
  if (known !== undefined && known.sha !== sha) return known;
  const at = timeOf(line);
  const before = known ?? unknownDeployment(repo, id, sha, environment, line);
  const isNewest = known === undefined || isNewer({ state, at }, before);
  const isKnown = before.states.some(
    (other) => other.state === state && isSameEnvironment(other.environment, environment),
  );
  return {
    ...before,
    ref: scope.ref ?? before.ref,
    task: before.task ?? short(line.detail.task) ?? null,
    environment: isNewest ? environment : before.environment,
    production: production ?? before.production,
    state: isNewest ? state : before.state,
    stateAt: isNewest ? at : before.stateAt,
    states: isKnown ? before.states : [...before.states, { state, environment, at, seq, via }],
    environmentUrl: newestText(status?.environmentUrl, before.environmentUrl, isNewest),
    logUrl: newestText(status?.logUrl, before.logUrl, isNewest),
    description: newestText(line.detail.description, before.description, isNewest),
    lastSeq: seq,
    lastAt: line.ts,
  };
}

function isNewer(next: { state: DeploymentState; at: string }, before: Deployment): boolean {
  if (isOlder(next.at, before.stateAt)) return false;
  return isOlder(before.stateAt, next.at) || order[next.state] > order[before.state];
}

function newestText(text: string | undefined, before: string | null, isNewest: boolean): string | null {
  if (!isNewest && before !== null) return before;
  return short(text) ?? before;
}

function unknownDeployment(
  repo: string,
  id: number,
  sha: string,
  environment: string,
  line: DeploymentLine,
): Deployment {
  return {
    repo,
    id,
    sha,
    ref: null,
    task: null,
    environment,
    production: null,
    state: 'created',
    stateAt: timeOf(line),
    states: [],
    environmentUrl: null,
    logUrl: null,
    description: null,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

function foldDeployment(context: FoldContext<DeploymentLine['event']>): void {
  const { board, line } = context;
  const { repo, deploymentId } = line.scope;
  if (repo === undefined || deploymentId === undefined) return;
  const known = board.deployments.get(pullRequestKey(repo, deploymentId));
  const deployment = reduceDeployment(known, line);
  if (deployment === undefined) return;
  putDeployment(board, deployment);
  for (const key of linked(board.links.pullRequestsByHead, commitKey(repo, deployment.sha))) {
    const pullRequest = board.pullRequests.get(key);
    const next = pullRequest && withPreviewOf(board, pullRequest, deployment);
    if (next !== undefined && next !== pullRequest) putPullRequest(board, next);
  }
  const newest = deployment.states.at(-1);
  if (newest === undefined || deployment.states === known?.states) return;
  const fact = deploymentFact(deployment, newest);
  for (const key of linked(board.links.waitingByRepo, repoKey(repo))) {
    const worker = board.workers.get(key);
    if (worker?.deploy && isSameEnvironment(worker.deploy.environment, newest.environment))
      change(context, worker, fact);
  }
}

function change(
  context: FoldContext,
  worker: Worker,
  fact: DeployFact,
  andThen: (changed: Worker) => Worker = (changed) => changed,
): void {
  const next = withFact(context, worker, fact);
  if (next !== worker) putWorker(context.board, withOwnAttention(context, andThen(next)));
}

function foldProof(context: FoldContext<'orchestrator.deploy.descendant_checked'>): void {
  const { board, line } = context;
  const { mergeSha, sha } = line.scope;
  const { contains, reverted } = line.detail;
  if (mergeSha === undefined || sha === undefined) return;
  for (const key of linked(board.links.workersByMerge, mergeSha)) {
    const worker = board.workers.get(key);
    if (worker === undefined) continue;
    if (contains !== true) {
      const refuted = withRefuted(worker, `${mergeSha}..${sha}`, reverted === true);
      const carried = withKnownDeployments(context, withCarriers(context, refuted));
      putWorker(board, withOwnAttention(context, carried));
      continue;
    }
    change(context, worker, { kind: 'contains', sha, seq: line.seq, at: line.ts }, (proven) => {
      const carried = withCarriers(context, proven);
      return carried.deploy?.carriedBy === proven.deploy?.carriedBy
        ? withDeploymentsOf(context, carried, sha)
        : withKnownDeployments(context, carried);
    });
  }
}

function workerOf({ board, line }: FoldContext): Worker | undefined {
  const { orchestrator, ticket } = line.scope;
  if (orchestrator === undefined || ticket === undefined) return undefined;
  return board.workers.get(workerKey(orchestrator, ticket));
}

function foldTimeout(context: FoldContext): void {
  const worker = workerOf(context);
  if (worker) change(context, worker, { kind: 'time', seq: context.line.seq, at: context.line.ts });
}

function foldDecision(
  context: FoldContext<'orchestrator.deploy.retried' | 'orchestrator.deploy.accepted'>,
): void {
  const worker = workerOf(context);
  if (worker === undefined) return;
  const { line } = context;
  const by = short(line.detail.by) ?? line.actor?.login ?? 'unknown';
  const isRetry = line.event === 'orchestrator.deploy.retried';
  const fact = {
    kind: 'person',
    action: isRetry ? 'retry' : 'accept',
    by,
    seq: line.seq,
    at: timeOf(line),
  } as const;
  // Deployments that arrived while only a person could move it count now, and missing proofs may be requested again.
  if (isRetry)
    for (const other of othersWithMerge(context.board, worker))
      putWorker(context.board, { ...other, proofsAsked: [] });
  change(context, worker, fact, (moved) =>
    isRetry ? withKnownDeployments(context, { ...moved, proofsAsked: [] }) : moved,
  );
}

export const deploymentFolds: readonly Fold[] = [
  on(['codehost.deployment.created', ...statusTopics], foldDeployment),
  on(['orchestrator.deploy.descendant_checked'], foldProof),
  on(['orchestrator.deploy.timed_out'], foldTimeout),
  on(['orchestrator.deploy.retried', 'orchestrator.deploy.accepted'], foldDecision),
];
