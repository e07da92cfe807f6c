// Passes facts to the deploy lifecycle and turns its effects into effects of the worker.
import { DEPLOY_BUDGET, type DeployEffect, type DeployFact } from '../deploy/deploy-worker.ts';
import { deployStep } from '../deploy/lifecycle.ts';
import { onlyKnown } from '../receive/payload-fields.ts';
import { pullRequestKey, pullRequestOfWorker } from './board-entities.ts';

import type { Worker } from './board-types.ts';
import { ask, type FoldContext } from './fold-context.ts';
import { raise, resolve, scopeOfWorker } from './worker-attention.ts';

const PROOFS_KEPT = 100;

/** The worker after the fact; the same object if nothing changed. It is not put on the board. */
export function withFact(context: FoldContext, before: Worker, fact: DeployFact): Worker {
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

function withEffect(context: FoldContext, worker: Worker, effect: DeployEffect, fact: DeployFact): Worker {
  switch (effect.kind) {
    case 'raise':
      return raise(context, worker, effect.reason, effect, fact.seq);
    case 'resolve':
      return resolve(context, worker, effect.reason);
    case 'prove':
      return withProofAsked(context, worker, effect.sha);
    case 'write-signal':
      writeSignal(context, worker);
      return worker;
    case 'move-ticket':
      ask(context, worker.ticket, { kind: 'move-ticket', ticket: worker.ticket, phase: effect.phase });
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

/** Each commit is checked once per worker: whether it contains the merge does not change. */
function withProofAsked(context: FoldContext, worker: Worker, sha: string): Worker {
  const { repo, merge, signal } = worker;
  const mergeSha = merge?.sha ?? null;
  if (repo === null || mergeSha === null || worker.proofsAsked.includes(sha)) return worker;
  const worktreePath = typeof signal?.worktreePath === 'string' ? signal.worktreePath : null;
  const subject = `${mergeSha}..${sha}`;
  ask(context, subject, { kind: 'prove-descendant', repo, mergeSha, sha, worktreePath });
  return { ...worker, proofsAsked: [...worker.proofsAsked, sha].slice(-PROOFS_KEPT) };
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
