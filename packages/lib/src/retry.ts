// Trying again what failed.
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so long, or until the signal; resolves in both cases. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** The result, once the work succeeds; undefined when the signal comes first. */
export async function untilItWorks<T>(
  work: () => Promise<T>,
  {
    pauseMs,
    signal,
    onFailure,
  }: { pauseMs: number; signal: AbortSignal; onFailure: (error: unknown) => void },
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      await pause(pauseMs, signal);
    }
  }
  return undefined;
}
