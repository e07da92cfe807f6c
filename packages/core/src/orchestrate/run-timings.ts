// The timings of the run loop as text: tests of runs use shorter ones.
import { z } from 'zod';
import { defaultTimings, type RunTimings } from './acts.ts';

const seconds = z.number().min(0).max(86_400);
const GivenTimings = z.strictObject({
  revivalDelaysSec: z.array(seconds).max(10).optional(),
  settleSec: seconds.optional(),
  claimSec: seconds.optional(),
  afterEndSec: seconds.optional(),
  agentAnswerSec: seconds.optional(),
  journalBytes: z.int().min(1).optional(),
});

/** `readTimings('{"settleSec":1}')`: missing values are the defaults; undefined if the text is invalid. */
export function readTimings(text: string): RunTimings | undefined {
  if (text === '') return defaultTimings;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // Text that is not JSON is as invalid as JSON of another shape.
    return undefined;
  }
  const read = GivenTimings.safeParse(given);
  if (!read.success) return undefined;
  const { revivalDelaysSec, settleSec, claimSec, afterEndSec, agentAnswerSec, journalBytes } = read.data;
  return {
    revivalDelaysSec: revivalDelaysSec ?? defaultTimings.revivalDelaysSec,
    settleSec: settleSec ?? defaultTimings.settleSec,
    claimSec: claimSec ?? defaultTimings.claimSec,
    afterEndSec: afterEndSec ?? defaultTimings.afterEndSec,
    agentAnswerSec: agentAnswerSec ?? defaultTimings.agentAnswerSec,
    journalBytes: journalBytes ?? defaultTimings.journalBytes,
  };
}
