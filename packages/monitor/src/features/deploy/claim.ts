// What a line of a worker means for its deploy: the status in its signal file is a claim, and new links bring known facts.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { FoldContext, LineOf } from '../../kernel/board/fold-context.ts';
import { timeOf } from '../../kernel/board/line-values.ts';
import { moveTicket } from '../tracker/move-ticket.ts';
import { currentWorkerOf, isGivenUp } from '../workers/current-worker.ts';
import { claimedStatus } from '../workers/reduce-worker.ts';
import { isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { withFact } from './deploy-effects.ts';
import type { DeployFact } from './deploy-worker.ts';
import { withPolicy } from './fold-policy.ts';
import { isSamePolicy } from './policy.ts';

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** What a worker takes from the board once it names another repository, branch or pull request. */
    linked: readonly ((context: FoldContext, worker: Worker) => Worker)[];
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;
const merged: ReadonlySet<WorkerStatus> = new Set(['merged', 'deploying', 'deploy-failed', 'done']);

/**
 * Applies the policy, the facts on the board and the status in the file. A status after the merge is compared with the known facts,
 * so those come first; a status before the merge is older, so it comes first.
 */
export function withClaim(context: FoldContext, reduced: Worker, known: Worker | undefined): Worker {
  const { board, line, steps } = context;
  const worker = withPolicy(board, reduced);
  const status = claimedStatus(line);
  const isNew = known === undefined || hasNewLinks(known, worker);
  const know = (before: Worker): Worker =>
    isNew ? steps.linked.reduce((next, step) => step(context, next), before) : before;
  if (status === undefined) return know(worker);
  const old = isOldFile(known, worker, line);
  const claimed: DeployFact = { kind: 'claimed', status, at: timeOf(line), seq: line.seq, old };
  return merged.has(status)
    ? withFact(context, know(worker), claimed)
    : know(withFact(context, worker, claimed));
}

/** The first event about the file, long after it was written: it existed before svc watched the folder. */
function isOldFile(known: Worker | undefined, { signal }: Worker, { ts }: LineOf): boolean {
  if (signal === null || (known !== undefined && known.signal !== null)) return false;
  return Date.parse(ts) - Date.parse(signal.updatedAt) >= DAY_MS;
}

function hasNewLinks(known: Worker, next: Worker): boolean {
  return (
    known.repo !== next.repo ||
    known.branch !== next.branch ||
    known.pr?.number !== next.pr?.number ||
    (known.policy !== next.policy && !isSamePolicy(known.policy, next.policy))
  );
}

/** Its run was given up: if an older run of the ticket is done, that one speaks for the ticket again. */
export function moveIfDone(context: FoldContext, worker: Worker, known: Worker | undefined): Worker {
  if (!isGivenUp(worker) || (known !== undefined && isGivenUp(known))) return worker;
  const current = currentWorkerOf(context.board, worker);
  if (current !== undefined && current.key !== worker.key && isShipped(current))
    moveTicket(context, current.ticket, 'done');
  return worker;
}
