// Passes facts to the deploy lifecycle and turns its effects into effects of the worker.
import { onlyKnown } from '@svc/contract/payload-fields';
import { repoKey } from '@svc/contract/repo-name';
import type { Board } from '../../kernel/board/board.ts';
import { ask, type FoldContext } from '../../kernel/board/fold-context.ts';
import { pullRequestKey } from '../../kernel/board/keys.ts';
import { isOlder } from '../../kernel/board/line-values.ts';
import { linked } from '../../kernel/board/links.ts';
import { pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import { moveTicket } from '../tracker/move-ticket.ts';
import { currentWorkerOf } from '../workers/current-worker.ts';
import { DEPLOY_BUDGET } from '../workers/deploy-stage.ts';
import { isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { raise, resolve, scopeOfWorker } from '../workers/worker-attention.ts';
import { type DeployEffect, type DeployFact } from './deploy-worker.ts';
import { deployStep } from './lifecycle.ts';

const PROOFS_KEPT = 100;

/** The worker after the fact; the same object if nothing changed. It is not put on the board. */
export function withFact(context: FoldContext, before: Worker, given: DeployFact): Worker {
  const fact = given.kind === 'merged' ? { ...given, at: notInFuture(context, given.at) } : given;
  const step = deployStep(before, fact);
  let worker = step.worker;
  if (worker !== before) {
    const { seq, ts } = context.line;
    const hasMoved = worker.status !== before.status;
    const since = hasMoved ? { statusSince: fact.at, statusSeq: seq } : undefined;
    worker = { ...worker, ...since, lastSeq: seq, lastAt: ts };
  }
  for (const effect of step.effects) worker = withEffect(context, worker, effect, fact);
  return worker;
}

/** A merge in the future would move the deadline there. */
function notInFuture({ line }: FoldContext, at: string): string {
  return isOlder(line.ts, at) ? line.ts : at;
}

function withEffect(context: FoldContext, worker: Worker, effect: DeployEffect, fact: DeployFact): Worker {
  switch (effect.kind) {
    case 'raise':
      return raise(context, worker, effect.reason, effect, fact.seq);
    case 'resolve':
      return resolve(context, worker, effect.reason);
    case 'prove':
      return withProof(context, worker, effect.base, effect.sha, fact);
    case 'write-signal':
      writeSignal(context, worker);
      return worker;
    case 'move-ticket':
      // Another run that is newer speaks for the ticket.
      if (currentWorkerOf(context.board, worker)?.key === worker.key)
        moveTicket(context, worker.ticket, effect.phase);
      return worker;
    case 'report':
      report(context, worker, effect.topic, fact);
      return worker;
    case 'refresh-pull-request':
      refreshPullRequest(context, worker);
      return worker;
  }
}

function writeSignal(context: FoldContext, worker: Worker): void {
  if (worker.removed) return;
  const { key, orchestrator, ticket, status, merge, deploy } = worker;
  // A pull request that was found by its branch is written into the file.
  const { number, url = null } = pullRequestOfWorker(context.board, worker) ?? worker.pr ?? {};
  const pr = merge && {
    ...(number !== undefined && { number }),
    ...(url !== null && { url }),
    state: 'merged',
    mergedAt: merge.at,
    ...(merge.sha !== null && { mergeSha: merge.sha }),
  };
  ask(context, key, { kind: 'write-signal', orchestrator, ticket, status, pr, deploy });
}

/**
 * Whether a commit contains a merge does not change, so each pair is checked once, also if several workers have the same
 * merge: the answer counts for all who wait for it, and a worker that comes later takes it from one who has it.
 */
function withProof(
  context: FoldContext,
  worker: Worker,
  base: string,
  sha: string,
  fact: DeployFact,
): Worker {
  if (!isProvenForOther(context.board, worker, sha)) return withProofAsked(context, worker, base, sha);
  const { seq, at } = fact;
  return withFact(context, withFact(context, worker, { kind: 'contains', sha, seq, at }), fact);
}

/** Another one with the same merge has the same answers. */
export function refutationOf(
  board: Board,
  worker: Worker,
  asked: string,
): Worker['refuted'][number] | undefined {
  return [worker, ...othersWithMerge(board, worker)]
    .flatMap(({ refuted }) => refuted)
    .find(({ pair }) => pair === asked);
}

export function withRefuted(worker: Worker, pair: string, reverted: boolean): Worker {
  const others = worker.refuted.filter((one) => one.pair !== pair);
  return { ...worker, refuted: [...others, { pair, reverted }].slice(-PROOFS_KEPT) };
}

export function isProvenForOther(board: Board, worker: Worker, sha: string): boolean {
  return othersWithMerge(board, worker).some(({ deploy }) => deploy?.containedIn.includes(sha));
}

/** Requests the proof, unless it was requested for this worker, or for another one that the answer counts for too. */
export function withProofAsked(context: FoldContext, worker: Worker, mergeSha: string, sha: string): Worker {
  const { repo } = worker;
  const pair = `${mergeSha}..${sha}`;
  if (repo === null || worker.proofsAsked.includes(pair)) return worker;
  const worktreePath = worktreeOf(worker);
  // A worker that is done takes no answers, one that has its answer waits for no other, and one without a worktree asks
  // only the code host.
  const isAsked = othersWithMerge(context.board, worker).some(
    (other) =>
      !isShipped(other) &&
      other.proofsAsked.includes(pair) &&
      other.deploy?.containedIn.includes(sha) !== true &&
      (worktreePath === null || worktreeOf(other) !== null),
  );
  if (!isAsked) ask(context, pair, { kind: 'prove-descendant', repo, mergeSha, sha, worktreePath });
  return { ...worker, proofsAsked: [...worker.proofsAsked, pair].slice(-PROOFS_KEPT) };
}

function worktreeOf({ signal }: Worker): string | null {
  return typeof signal?.worktreePath === 'string' ? signal.worktreePath : null;
}

/** Those in its lifecycle with the same merge of the same repository. */
export function othersWithMerge({ links, workers }: Board, { key, repo, merge }: Worker): Worker[] {
  if (repo === null || merge === null || merge.sha === null) return [];
  return linked(links.workersByMerge, merge.sha).flatMap((name) => {
    const other = name === key ? undefined : workers.get(name);
    if (other === undefined || other.deploy === null || other.repo === null) return [];
    // One that this merge carries has another merge of its own, and other proofs.
    return repoKey(other.repo) === repoKey(repo) && other.merge?.sha === merge.sha ? [other] : [];
  });
}

function refreshPullRequest(context: FoldContext, worker: Worker): void {
  const number = worker.pr?.number ?? pullRequestOfWorker(context.board, worker)?.number;
  const { repo } = worker;
  if (repo === null || number === undefined) return;
  ask(context, pullRequestKey(repo, number), { kind: 'refresh-pull-request', repo, pr: number });
}

function report(
  context: FoldContext,
  worker: Worker,
  topic: 'started' | 'succeeded' | 'failed',
  fact: DeployFact,
): void {
  const { deploy, policy } = worker;
  const event = `orchestrator.deploy.${topic}` as const;
  const deployment = fact.kind === 'deployment' ? fact : undefined;
  ask(context, `${event}:${worker.key}`, {
    kind: 'append',
    draft: {
      event,
      source: 'monitor',
      via: 'local',
      occurredAt: fact.at,
      scope: onlyKnown({
        ...scopeOfWorker(worker),
        sha: deployment?.sha,
        environment: deployment?.environment ?? deploy?.environment,
        deploymentId: deployment?.id,
      }),
      detail: onlyKnown({
        state: deployment?.state,
        attempts: deploy?.attempts.length,
        budget: DEPLOY_BUDGET,
        timeoutSec: policy.timeoutSec,
        deadline: deploy?.deadline,
        logUrl: deployment?.logUrl,
        description: deployment?.description,
      }),
    },
  });
}
