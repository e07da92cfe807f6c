import { expect, test } from 'vitest';
import { callsOfPollingEverything } from './api-budget.ts';

const HOUR_MS = 3_600_000;

test('30 workers over 10 repositories made roughly 26,000 calls an hour', () => {
  expect(callsOfPollingEverything({ pullRequests: 30, repos: 10, elapsedMs: HOUR_MS })).toBe(26_400);
});

test.each([
  [{ pullRequests: 0, repos: 0, elapsedMs: HOUR_MS }, 0],
  [{ pullRequests: 1, repos: 1, elapsedMs: 29_999 }, 0],
  [{ pullRequests: 1, repos: 1, elapsedMs: 30_000 }, 8],
  [{ pullRequests: 1, repos: 1, elapsedMs: -1 }, 0],
])('%o is %i', (watched, calls) => {
  expect(callsOfPollingEverything(watched)).toBe(calls);
});
