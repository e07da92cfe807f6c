// Retries failed work.
import { pause } from './timeout.ts';

/** The result, once the work succeeds; undefined if the signal aborts first. */
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
