// Waits with a limit.
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for this time, or until the signal; resolves in both cases. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

const timeIsUp = Symbol('time is up');

/**
 * The result of the work, or that of `late`, which may throw, if the work takes longer. The work itself continues. A
 * signal ends the wait as the timeout does.
 */
export async function within<T, Late>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late,
  signal?: AbortSignal,
): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<typeof timeIsUp>();
  const end = (): void => resolve(timeIsUp);
  const timer = setTimeout(end, milliseconds);
  if (signal?.aborted === true) end();
  signal?.addEventListener('abort', end);
  try {
    const first = await Promise.race([work, promise]);
    return first === timeIsUp ? late() : first;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Aborts when its caller does, when one of the signals does, or after the timeout. `AbortSignal.any` cannot be used: as
 * long as it has no listener, Node may collect the signals that it is made of, and then it never aborts.
 */
export function endOfWait(milliseconds: number, ...signals: readonly AbortSignal[]): AbortController {
  const over = new AbortController();
  const end = (): void => over.abort();
  for (const signal of [AbortSignal.timeout(milliseconds), ...signals]) {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: over.signal });
  }
  return over;
}
