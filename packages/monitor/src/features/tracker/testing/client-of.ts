import { WAIT_MS } from '@svc/testkit';
import type { Gh } from '../../codehost/gh.ts';
import { createLinearClient, type LinearClient, type LinearClientOptions } from '../io/linear/client.ts';

export const TOKEN = 'lin_api_hush-hush';

/** What our client needs to ask a fake tracker. */
export const meansOf = (tracker: { url: string }) => ({
  apiUrl: tracker.url,
  fetch,
  clock: { now: Date.now },
  timeoutMs: WAIT_MS,
  gh: (): Gh => {
    throw new Error('the code host was asked');
  },
});

/** Our client for a fake tracker. */
export function clientOf(tracker: { url: string }, given: Partial<LinearClientOptions> = {}): LinearClient {
  return createLinearClient({ token: TOKEN, ...meansOf(tracker), ...given });
}
