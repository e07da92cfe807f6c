// Why a worker needs a person: raised when the cause appears, resolved automatically when it is gone.
import { onlyKnown } from '@svc/contract/payload-fields';
import type { Board } from '../../kernel/board/board.ts';
import { ask, type FoldContext } from '../../kernel/board/fold-context.ts';
import { draft, type EventScope } from '../../kernel/log/event-line.ts';
import { attentionId } from '../attention/reduce-attention.ts';
import { waitedAfter } from './waits.ts';
import { whyResolved } from './why-resolved.ts';
import type { Worker } from './worker.ts';

/** What a person reads about a reason, and the command that fixes it, without the ticket: `svc deploy retry`. */
export type Raised = {
  message: string;
  severity: 'low' | 'medium' | 'high';
  remedy: string;
  /** What follows the ticket in the remedy. */
  answer?: string;
};

/** Open while its function returns something. */
export type WorkerReason = readonly [
  reason: string,
  find: (board: Board, worker: Worker) => Raised | undefined,
];

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** Why a worker may need a person, but for the reasons of the deploy lifecycle, which raises its own. */
    workerReasons: readonly WorkerReason[];
  }
}

/** Raises new reasons and resolves those that are gone; returns the worker with its open reasons. */
export function withOwnAttention(context: FoldContext, worker: Worker): Worker {
  let next = worker;
  for (const [reason, find] of context.steps.workerReasons) {
    const found = find(context.board, worker);
    const isRaised = worker.raised.includes(reason);
    if (found !== undefined && !isRaised) next = raise(context, next, reason, found, context.line.seq);
    else if (found === undefined && isRaised) next = resolve(context, next, reason);
  }
  const waited = waitedAfter(next.waited, next.raised, context.line.ts);
  return waited === next.waited ? next : { ...next, waited };
}

export function raise(
  context: FoldContext,
  worker: Worker,
  reason: string,
  what: Raised,
  evidence: number,
): Worker {
  const { message, severity, remedy, answer = '' } = what;
  const id = attentionId({ ...worker, reason });
  ask(context, id, {
    kind: 'append',
    draft: draft('comms.attention', scopeOfWorker(worker), {
      reason,
      message,
      remedy: `${remedy} ${worker.ticket} ${answer}`.trimEnd(),
      severity,
      evidence: [evidence],
    }),
  });
  return worker.raised.includes(reason) ? worker : { ...worker, raised: [...worker.raised, reason] };
}

/** An item that was never raised is not resolved. */
export function resolve(context: FoldContext, worker: Worker, reason: string): Worker {
  const id = attentionId({ ...worker, reason });
  const isRaised = worker.raised.includes(reason);
  if (!isRaised && !context.board.attention.has(id)) return worker;
  ask(context, id, {
    kind: 'append',
    draft: draft('comms.attention_resolved', scopeOfWorker(worker), {
      reason,
      message: whyResolved(context.line, worker, reason),
      by: 'svc',
    }),
  });
  return isRaised ? { ...worker, raised: worker.raised.filter((other) => other !== reason) } : worker;
}

export function scopeOfWorker(worker: Worker): EventScope {
  const { orchestrator, ticket, name, repo, branch, pr, merge } = worker;
  return onlyKnown({
    orchestrator,
    ticket,
    worker: name,
    repo: repo ?? undefined,
    branch: branch ?? undefined,
    pr: pr?.number,
    mergeSha: merge?.sha ?? undefined,
  });
}
