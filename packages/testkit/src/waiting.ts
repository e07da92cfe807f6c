// How a test waits: for a condition, never for a time. There is one limit for every wait, so long that only a condition
// that never holds reaches it. On a slow machine, TEST_PATIENCE=3 makes it three times as long.
import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;

const factor = Number(process.env['TEST_PATIENCE'] ?? 1);
if (!(factor > 0)) throw new Error('TEST_PATIENCE must be a number above 0');

/** The limit of one wait. A whole test may take three of them. */
export const WAIT_MS = 60_000 * factor;

/** Waits until `find` returns something truthy, and returns that. Until then it may throw or return something falsy. */
export function until<T extends Fact>(find: () => T | Promise<T>): Promise<NonNullable<T>> {
  return poll(async () => {
    const found = await find();
    if (!found) throw new Error(`waited ${WAIT_MS / 1000} s for this: ${String(find)}`);
    return found;
  });
}

/** Not void: an assertion without a return value would never be truthy. */
type Fact = object | string | number | bigint | boolean | symbol | null | undefined;

/** Waits until `check` no longer throws: for assertions about a changing value. */
export async function untilHolds(check: () => void | Promise<void>): Promise<void> {
  const returned: unknown = await poll(async () => check());
  // A condition that is only returned would always pass at once.
  if (typeof returned === 'boolean')
    throw new TypeError('untilHolds takes assertions; until takes a condition');
}

async function poll<T>(attempt: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + WAIT_MS; ; await sleep(INTERVAL_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}
