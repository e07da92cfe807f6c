// One attempt at an effect. It always ends: with the handler's answer, its error, or the end of patience.

import type { Effect } from '@svc/core';
import type { Clock } from '@svc/lib/clock';
import { messageOf } from '@svc/lib/errors';
import type { OutboxRow } from './outbox-store.ts';

/** What came of an attempt. `done` says in a few words what happened: `written`, `already`, `skipped: …`. */
export type Outcome =
  | { done: string }
  /**
   * `permanent`: trying again would not help. `waiting`: its time has not come, which is no failure and uses up
   * no patience.
   */
  | {
      failed: string;
      retryAfterMs?: number | undefined;
      permanent?: boolean | undefined;
      waiting?: boolean | undefined;
    };

/** `number` counts from 1. After `signal` the answer no longer matters. */
export type Attempt = { number: number; signal: AbortSignal };

/** Carries out one kind of effect, so that doing it twice is the same as once. An error means: try again. */
type Handler<Kind extends Effect['kind']> = (
  effect: Extract<Effect, { kind: Kind }>,
  attempt: Attempt,
) => Promise<Outcome>;

export type Handlers = { [Kind in Effect['kind']]?: Handler<Kind> };

/** What carries a row out; a row that nothing can carry out gets a handler that says why. */
export function handlerFor(
  handlers: Handlers,
  { effect, kind }: Pick<OutboxRow, 'effect' | 'kind'>,
): (attempt: Attempt) => Promise<Outcome> {
  if (effect === null) return refuse('what was stored of it cannot be read');
  const known = Object.hasOwn(handlers, kind) ? handlers[effect.kind] : undefined;
  if (known === undefined) return refuse(`nothing here carries out "${kind}"`);
  const handler = known as (effect: Effect, attempt: Attempt) => Promise<Outcome>;
  return (attempt) => handler(effect, attempt);
}

function refuse(failed: string): () => Promise<Outcome> {
  return () => Promise.resolve({ failed, permanent: true });
}

export type OutboxClock = Pick<Clock, 'now' | 'after'>;

export type RunningAttempt = {
  end: Promise<Outcome>;
  /** Resolves when the handler itself has ended, which may be later than `end`; within bounds. */
  over: Promise<void>;
  abort: () => void;
};

/** A handler that goes on after its time could still act: what must not overtake it waits, but not for ever. */
const LONGEST_OVERTIME_MS = 5 * 60_000;

export function startAttempt({
  run,
  number,
  timeoutMs,
  clock,
}: {
  run: (attempt: Attempt) => Promise<Outcome>;
  number: number;
  timeoutMs: number;
  clock: OutboxClock;
}): RunningAttempt {
  const control = new AbortController();
  const ended = answerOf(run, { number, signal: control.signal });
  const late = { failed: `no answer within ${Math.round(timeoutMs / 1000)} s` };
  return {
    end: firstOf(ended, timeoutMs, clock, () => {
      control.abort();
      return late;
    }),
    over: firstOf(
      ended.then(() => undefined),
      timeoutMs + LONGEST_OVERTIME_MS,
      clock,
      () => undefined,
    ),
    abort: () => control.abort(),
  };
}

async function answerOf(run: (attempt: Attempt) => Promise<Outcome>, attempt: Attempt): Promise<Outcome> {
  try {
    return await run(attempt);
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

function firstOf<T>(work: Promise<T>, milliseconds: number, clock: OutboxClock, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(milliseconds, () => resolve(late()));
    work.finally(cancel).then(resolve, reject);
  });
}
