// Lines of deployments, and what is said of deploys: proofs, deadlines, a person's word.

import { repoKey } from '../codehost/repo-name.ts';
import type { DeployFact } from '../deploy/deploy-worker.ts';
import { isSameEnvironment } from '../deploy/policy.ts';
import { putDeployment, putPullRequest, putWorker } from './board-entities.ts';
import { commitKey, linked, pullRequestKey } from './board-links.ts';
import { withFact } from './deploy-turn.ts';
import { deploymentFact, withDeploymentsOf, withKnownDeployments } from './known-facts.ts';
import { shortTextAt, timeOf } from './line-fields.ts';
import { withPreviewOf } from './preview-deployments.ts';
import { deploymentTopics, reduceDeployment } from './reduce-deployment.ts';
import { workerKey } from './reduce-worker.ts';
import type { Folds, Turn } from './turn.ts';
import type { Worker } from './worker.ts';
import { withOwnAttention } from './worker-attention.ts';

function foldDeployment(turn: Turn): void {
  const { board, line } = turn;
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
  const told = deployment.states.at(-1);
  if (told === undefined || deployment.states === known?.states) return;
  const fact = deploymentFact(deployment, told);
  for (const key of linked(board.links.waitingByRepo, repoKey(repo))) {
    const worker = board.workers.get(key);
    if (worker?.deploy && isSameEnvironment(worker.deploy.environment, deployment.environment))
      change(turn, worker, fact);
  }
}

function change(
  turn: Turn,
  worker: Worker,
  fact: DeployFact,
  andThen: (changed: Worker) => Worker = (changed) => changed,
): void {
  const next = withFact(turn, worker, fact);
  if (next !== worker) putWorker(turn.board, withOwnAttention(turn, andThen(next)));
}

function foldProof(turn: Turn): void {
  const { board, line } = turn;
  const { mergeSha, sha } = line.scope;
  if (mergeSha === undefined || sha === undefined || line.detail['contains'] !== true) return;
  for (const key of linked(board.links.workersByMerge, mergeSha)) {
    const worker = board.workers.get(key);
    if (worker === undefined) continue;
    change(turn, worker, { kind: 'contains', sha, seq: line.seq, at: line.ts }, (proven) =>
      withDeploymentsOf(turn, proven, sha),
    );
  }
}

function workerOf({ board, line }: Turn): Worker | undefined {
  const { orchestrator, ticket } = line.scope;
  if (orchestrator === undefined || ticket === undefined) return undefined;
  return board.workers.get(workerKey(orchestrator, ticket));
}

function foldTimeout(turn: Turn): void {
  const worker = workerOf(turn);
  if (worker) change(turn, worker, { kind: 'time', seq: turn.line.seq, at: turn.line.ts });
}

function foldWord(turn: Turn): void {
  const worker = workerOf(turn);
  if (worker === undefined) return;
  const { line } = turn;
  const by = shortTextAt(line.detail, 'by') ?? line.actor?.login ?? 'unknown';
  const isRetry = line.event === 'orchestrator.deploy.retried';
  const fact = {
    kind: 'person',
    word: isRetry ? 'retry' : 'accept',
    by,
    seq: line.seq,
    at: timeOf(line),
  } as const;
  // What came while only a person could move it counts now, and proofs that nobody gave may be asked for again.
  change(turn, worker, fact, (moved) =>
    isRetry ? withKnownDeployments(turn, { ...moved, proofsAsked: [] }) : moved,
  );
}

export const deploymentFolds: Folds = [
  ...deploymentTopics.map((topic) => [topic, foldDeployment] as const),
  ['orchestrator.deploy.descendant_checked', foldProof],
  ['orchestrator.deploy.timed_out', foldTimeout],
  ['orchestrator.deploy.retried', foldWord],
  ['orchestrator.deploy.accepted', foldWord],
];
