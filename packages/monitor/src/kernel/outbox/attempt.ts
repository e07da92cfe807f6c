// One attempt at an effect. It always ends: with the handler's result, its error, or a timeout.
import type { Clock } from '@svc/lib/clock';
import { messageOf } from '@svc/lib/errors';
import type { Effect } from './effect.ts';
import type { OutboxRow } from './outbox-store.ts';

/** The result of an attempt. `done` describes it in a few words: `written`, `already`, `skipped: …`. */
export type Outcome =
  | { done: string }
  /**
   * `permanent`: retrying would not help. `waiting`: it is too early, which is not a failure and does not count as an
   * attempt.
   */
  | {
      failed: string;
      retryAfterMs?: number | undefined;
      permanent?: boolean | undefined;
      waiting?: boolean | undefined;
    };

/** `number` counts from 1. After `signal` the result no longer matters. */
export type Attempt = { number: number; signal: AbortSignal };

/** Executes one kind of effect; it must be safe to run twice. An error means: try again. */
type Handler<Kind extends Effect['kind']> = (
  effect: Extract<Effect, { kind: Kind }>,
  attempt: Attempt,
) => Promise<Outcome>;

export type Handlers = { [Kind in Effect['kind']]?: Handler<Kind> };

/** The handler of a row; a row without one gets a handler that fails with the reason. */
export function handlerFor(
  handlers: Handlers,
  { effect, kind }: Pick<OutboxRow, 'effect' | 'kind'>,
): (attempt: Attempt) => Promise<Outcome> {
  if (effect === null) return refuse('its stored data cannot be read');
  const known = Object.hasOwn(handlers, kind) ? handlers[effect.kind] : undefined;
  if (known === undefined) return refuse(`there is no handler for "${kind}"`);
  const handler = known as (effect: Effect, attempt: Attempt) => Promise<Outcome>;
  return (attempt) => handler(effect, attempt);
}

function refuse(failed: string): () => Promise<Outcome> {
  return () => Promise.resolve({ failed, permanent: true });
}

export type OutboxClock = Pick<Clock, 'now' | 'after'>;

export type RunningAttempt = {
  end: Promise<Outcome>;
  /** Resolves when the handler itself has ended, which may be later than `end`; bounded. */
  over: Promise<void>;
  abort: () => void;
};

/** A handler that continues after its timeout could still act: what must not overtake it waits, but not forever. */
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
  const ended = resultOf(run, { number, signal: control.signal });
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

async function resultOf(run: (attempt: Attempt) => Promise<Outcome>, attempt: Attempt): Promise<Outcome> {
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
