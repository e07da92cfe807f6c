import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ApiBudget,
  callsInLastHour,
  freshBudget,
  mayCall,
  standardBudget,
  withCalls,
  withOutcome,
  withQuota,
} from './api-budget.ts';

const MINUTE = 60_000;
const start = Date.UTC(2026, 0, 1, 12);
const rules = { ...standardBudget, callsPerHour: 10 };
const unavailable = { kind: 'unavailable', message: '' } as const;

describe('calls an hour', () => {
  test('are used up, and become available again minute by minute', () => {
    let budget = withCalls(freshBudget, 4, start);
    budget = withCalls(budget, 6, start + 5 * MINUTE);
    const now = start + 6 * MINUTE;
    expect(mayCall(budget, 'core', now, rules)).toEqual({
      go: false,
      why: 'calls-an-hour',
      until: start + 60 * MINUTE,
    });
    expect(mayCall(budget, 'core', start + 60 * MINUTE, rules)).toEqual({ go: true });
    expect(callsInLastHour(budget, start + 60 * MINUTE)).toBe(6);
  });

  test('never exceed the limit in any hour, in whatever order they are made', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 10 * MINUTE }), { maxLength: 200 });
    fc.assert(
      fc.property(gaps, (waits) => {
        let budget = freshBudget;
        let now = start;
        const made: number[] = [];
        for (const wait of waits) {
          now += wait;
          if (!mayCall(budget, 'core', now, rules).go) continue;
          budget = withCalls(budget, 1, now);
          made.push(now);
        }
        // Calls are counted by whole minutes, so an hour may be up to a minute short.
        const most = Math.max(
          0,
          ...made.map((from) => made.filter((at) => at >= from && at < from + 59 * MINUTE).length),
        );
        expect(most).toBeLessThanOrEqual(rules.callsPerHour);
        expect(budget.minutes.length).toBeLessThanOrEqual(61);
      }),
    );
  });

  test('a clock that is set back does not block forever', () => {
    const budget = withCalls(freshBudget, 10, start + 600 * MINUTE);
    const verdict = mayCall(budget, 'core', start, rules);
    expect(verdict).toMatchObject({ go: false, until: start + 60 * MINUTE });
  });
});

describe('quota', () => {
  const quota = { resource: 'core', limit: 5000, remaining: 500, resetAt: start + MINUTE };

  test('the last tenth is reserved for people until the reset', () => {
    const budget = withQuota(freshBudget, quota);
    expect(mayCall(budget, 'core', start)).toEqual({ go: false, why: 'quota', until: quota.resetAt });
    expect(mayCall(budget, 'graphql', start)).toEqual({ go: true });
    expect(mayCall(budget, 'core', quota.resetAt)).toEqual({ go: true });
    expect(mayCall(withQuota(budget, { ...quota, remaining: 501 }), 'core', start)).toEqual({ go: true });
  });
});

describe('breaker', () => {
  const after = (failures: number): ApiBudget => {
    let budget = freshBudget;
    for (let n = 0; n < failures; n += 1) budget = withOutcome(budget, unavailable, start);
    return budget;
  };

  test.each([
    [1, 0],
    [2, 0],
    [3, 30_000],
    [4, 60_000],
    [5, 120_000],
    [9, 600_000],
    [1000, 600_000],
  ])('%i failures in a row pause for %i ms', (failures, pause) => {
    expect(Math.max(after(failures).pausedUntil - start, 0)).toBe(pause);
    expect(mayCall(after(failures), 'core', start).go).toBe(pause === 0);
    expect(mayCall(after(failures), 'core', start + pause).go).toBe(true);
  });

  test('one success closes it', () => {
    const recovered = withOutcome(after(5), undefined, start + 200_000);
    expect(withOutcome(recovered, unavailable, start + 200_000)).toMatchObject({ failures: 1 });
    expect(mayCall(recovered, 'core', start + 200_000).go).toBe(true);
  });

  test('a rejected call proves that the code host works', () => {
    expect(withOutcome(after(2), { kind: 'no-admin', message: '' }, start).failures).toBe(0);
  });

  test('a quota that is used up does not open it', () => {
    const usedUp = { kind: 'rate-limited', message: '', until: start + 90_000, resource: 'graphql' } as const;
    expect(mayCall(withOutcome(freshBudget, usedUp, start), 'core', start).go).toBe(true);
  });

  test('it opens for as long as the code host asks', () => {
    const limited = { kind: 'rate-limited', message: '', until: start + 90_000 } as const;
    const budget = withOutcome(freshBudget, limited, start);
    expect(mayCall(budget, 'core', start + 89_999)).toEqual({
      go: false,
      why: 'paused',
      until: start + 90_000,
    });
    expect(mayCall(budget, 'core', start + 90_000).go).toBe(true);
  });
});
