import { WAIT_MS } from '@svc/testkit';
import { createTrackerClient, type TrackerClient, type TrackerClientOptions } from '../client.ts';

export const TOKEN = 'lin_api_hush-hush';

/** Our client for a fake tracker. */
export function clientOf(tracker: { url: string }, given: Partial<TrackerClientOptions> = {}): TrackerClient {
  return createTrackerClient({
    token: TOKEN,
    apiUrl: tracker.url,
    fetch,
    clock: { now: Date.now },
    timeoutMs: WAIT_MS,
    ...given,
  });
}
