// How long the run loop waits for each kind of event, as the machine's setting says.
import type { Machine } from '../../../kernel/config/environment.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type RunTimings, readTimings } from '../acts.ts';

export function timingsOf({ timings: text }: Pick<Machine, 'timings'>): RunTimings {
  const timings = readTimings(text);
  if (timings !== undefined) return timings;
  throw new Failure(
    'usage',
    `SVC_ORCHESTRATE_TIMINGS must be JSON such as {"revivalDelaysSec":[1,2,3]}, found ${JSON.stringify(text.slice(0, 200))}.`,
  );
}
