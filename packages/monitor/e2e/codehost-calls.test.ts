// The requests to the code host, with a small version of `bench/codehost-calls.ts`: hours that pass on a simulated
// clock, with the daemon's own parts.
import { describe, expect, test } from 'vitest';
import { countByKind, type Day, type DayOptions, simulateDay } from '../../../bench/codehost-calls-day.ts';
import { compareWithTruth } from '../../../bench/codehost-calls-known.ts';
import { createCodehostCloud } from '../../testkit/src/codehost/cloud.ts';

const hours = 4;
const typical: DayOptions = {
  workers: 30,
  repos: 10,
  hours,
  webhooks: true,
  seed: 1,
  realGh: false,
  tracker: 'linear',
};

/** Simulated once, because several tests are about it. */
let typicalDay: Promise<Day> | undefined;
const simulateTypicalDay = (): Promise<Day> => (typicalDay ??= simulateDay(typical));

describe('calls per hour for 30 workers in 10 repositories', () => {
  test('with webhooks: under 50, including the first start, and the log has everything', async () => {
    const { calls, callsOfPollingEverything, truth } = await simulateTypicalDay();
    expect(truth.problems).toEqual([]);
    expect(truth.merges).toBeGreaterThan(0);
    expect(truth.lines.replay).toBeGreaterThan(0);
    expect(calls.length / hours).toBeLessThan(50);
    expect(callsOfPollingEverything / hours).toBeGreaterThan(10_000);
  });

  test('without webhooks: under 500, and the log has everything', async () => {
    const { calls, truth } = await simulateDay({ ...typical, hours: 2, webhooks: false });
    expect(truth.problems).toEqual([]);
    expect(truth.merges).toBeGreaterThan(0);
    expect(truth.deliveries).toBe(0);
    expect(calls.length / 2).toBeLessThan(500);
  });

  test.each(['linear', 'labels', 'project'] as const)(
    'for tickets (%s): under 100, and every one is in its state, at the tracker and in the log',
    async (tracker) => {
      const { options, ticketCalls, truth } = await (tracker === typical.tracker
        ? simulateTypicalDay()
        : simulateDay({ ...typical, hours: 2, tracker }));
      expect(truth.problems).toEqual([]);
      expect(ticketCalls / options.hours).toBeGreaterThan(10);
      expect(ticketCalls / options.hours).toBeLessThan(100);
    },
  );
});

test('the real gh makes the calls that are counted', async () => {
  const small: DayOptions = { ...typical, workers: 6, repos: 2, hours: 1, tracker: 'project' };
  const [counted, real] = [await simulateDay(small), await simulateDay({ ...small, realGh: true })];
  expect(real.truth.problems).toEqual([]);
  expect(real.calls.length).toBeGreaterThan(5);
  expect(countByKind(real.calls)).toEqual(countByKind(counted.calls));
  expect(real.ticketCalls).toBe(counted.ticketCalls);
});

test('a log in which a merged pull request is open is reported as having missed the merge', () => {
  const cloud = createCodehostCloud(() => 1000);
  const repo = cloud.addRepo('acme/web');
  const row = cloud.addPullRequest('acme/web', { number: 7 });
  cloud.mergePullRequest('acme/web', 7);
  const lines = { live: 1, replay: 0, poll: 0, local: 0 };
  const known = {
    pullRequest: () => ({ state: 'open' as const }),
    merge: () => undefined,
    lines,
    upTo: () => 1,
  };
  const log = { hasDelivery: () => true, lastSeq: () => 1 };
  const touched = new Set([{ repo, row }]);
  const { problems } = compareWithTruth({ repos: [repo], known, log, touched, startedAt: 0 });
  expect(problems).toContain('acme/web#7 is merged, the log has open');
});
