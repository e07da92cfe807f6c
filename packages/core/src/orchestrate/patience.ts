// The patience of the run loop as a text: machines that try runs out have less of it than people.
import { z } from 'zod';
import { type Patience, usualPatience } from './acts.ts';

const seconds = z.number().min(0).max(86_400);
const GivenPatience = z.strictObject({
  revivalDelaysSec: z.array(seconds).max(10).optional(),
  settleSec: seconds.optional(),
  claimSec: seconds.optional(),
  afterEndSec: seconds.optional(),
});

/** `readPatience('{"settleSec":1}')`: what is not named is as usual; undefined when it is not understood. */
export function readPatience(text: string): Patience | undefined {
  if (text === '') return usualPatience;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // Not JSON is as little understood as JSON of another form.
    return undefined;
  }
  const read = GivenPatience.safeParse(given);
  if (!read.success) return undefined;
  const { revivalDelaysSec, settleSec, claimSec, afterEndSec } = read.data;
  return {
    revivalDelaysSec: revivalDelaysSec ?? usualPatience.revivalDelaysSec,
    settleSec: settleSec ?? usualPatience.settleSec,
    claimSec: claimSec ?? usualPatience.claimSec,
    afterEndSec: afterEndSec ?? usualPatience.afterEndSec,
  };
}
