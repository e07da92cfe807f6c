// How many calls may be made to the code host's API. The user's own work uses the same quota, so we take only a part of
// it and stop early. A call may be made if all of these hold:
//
//   calls an hour   fewer than `callsPerHour` were made in the last sixty minutes;
//   quota           the last answer showed more than the reserve left, or its reset has passed;
//   breaker closed  it did not ask for a pause, and did not fail `failuresToTrip` times in a row. After the
//                   pause one call decides: success closes the breaker, failure opens it for twice as long.
//
// Pure: the clock is passed in, and every function returns the next state.
import type { ApiQuota } from './api-answer.ts';
import type { CodehostProblem } from './problem.ts';

export type BudgetRules = {
  callsPerHour: number;
  /** The part of the quota that is reserved for people. */
  reserve: number;
  failuresToTrip: number;
  firstPauseMs: number;
  longestPauseMs: number;
};

export const standardBudget: BudgetRules = {
  callsPerHour: 1_000,
  reserve: 0.1,
  failuresToTrip: 3,
  firstPauseMs: 30_000,
  longestPauseMs: 600_000,
};

export type ApiBudget = {
  /** Calls by minute over the last sixty minutes, oldest first. */
  minutes: readonly { minute: number; calls: number }[];
  quotas: Readonly<Record<string, ApiQuota>>;
  /** In a row. */
  failures: number;
  pausedUntil: number;
};

export type BudgetVerdict =
  | { go: true }
  | { go: false; why: 'calls-an-hour' | 'quota' | 'paused'; until: number };

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

export const freshBudget: ApiBudget = { minutes: [], quotas: {}, failures: 0, pausedUntil: 0 };

/** `mayCall(budget, 'core', now)` */
export function mayCall(
  budget: ApiBudget,
  resource: string,
  now: number,
  rules: BudgetRules = standardBudget,
): BudgetVerdict {
  if (now < budget.pausedUntil) return { go: false, why: 'paused', until: budget.pausedUntil };
  const quota = budget.quotas[resource];
  if (quota !== undefined && now < quota.resetAt && quota.remaining <= quota.limit * rules.reserve)
    return { go: false, why: 'quota', until: quota.resetAt };
  if (callsInLastHour(budget, now) >= rules.callsPerHour) {
    const oldest = recent(budget, now)[0]?.minute ?? 0;
    return { go: false, why: 'calls-an-hour', until: (oldest + HOUR_MINUTES) * MINUTE_MS };
  }
  return { go: true };
}

export function callsInLastHour(budget: ApiBudget, now: number): number {
  return recent(budget, now).reduce((sum, { calls }) => sum + calls, 0);
}

/** Calls are counted when they are made, whatever the result. */
export function withCalls(budget: ApiBudget, calls: number, now: number): ApiBudget {
  const minute = Math.floor(now / MINUTE_MS);
  const minutes = recent(budget, now);
  const last = minutes.at(-1);
  return {
    ...budget,
    minutes:
      last?.minute === minute
        ? [...minutes.slice(0, -1), { minute, calls: last.calls + calls }]
        : [...minutes, { minute, calls }],
  };
}

/** Records the quota in the newest answer. */
export function withQuota(budget: ApiBudget, quota: ApiQuota): ApiBudget {
  return { ...budget, quotas: { ...budget.quotas, [quota.resource]: quota } };
}

/** Records the result of a call; no problem means that the code host works. */
export function withOutcome(
  budget: ApiBudget,
  problem: CodehostProblem | undefined,
  now: number,
  rules: BudgetRules = standardBudget,
): ApiBudget {
  if (problem?.kind === 'rate-limited') {
    // A used-up quota is recorded as such and does not affect the other one.
    if (problem.resource !== undefined) return { ...budget, failures: 0 };
    return { ...budget, pausedUntil: Math.max(budget.pausedUntil, problem.until) };
  }
  if (problem?.kind !== 'unavailable') return { ...budget, failures: 0 };
  const failures = budget.failures + 1;
  if (failures < rules.failuresToTrip) return { ...budget, failures };
  const doublings = Math.min(failures - rules.failuresToTrip, 20);
  const pause = Math.min(rules.firstPauseMs * 2 ** doublings, rules.longestPauseMs);
  return { ...budget, failures, pausedUntil: now + pause };
}

/** After a clock was set back, some minutes lie in the future: they count as now. */
function recent(budget: ApiBudget, now: number): ApiBudget['minutes'] {
  const minute = Math.floor(now / MINUTE_MS);
  return budget.minutes
    .filter((entry) => entry.minute > minute - HOUR_MINUTES)
    .map((entry) => (entry.minute > minute ? { ...entry, minute } : entry));
}

// What polling everything every 30 seconds would cost: for each pull request one call each for itself, its reviews,
// review comments, comments, check suites, statuses and deployments; for each repository one for the list of pull
// requests. 30 workers over 10 repositories came to 26,400 calls an hour.

const POLL_EVERYTHING_MS = 30_000;
const CALLS_PER_PULL_REQUEST = 7;
const CALLS_PER_REPO = 1;

export function callsOfPollingEverything(watched: {
  pullRequests: number;
  repos: number;
  elapsedMs: number;
}): number {
  const each = watched.pullRequests * CALLS_PER_PULL_REQUEST + watched.repos * CALLS_PER_REPO;
  return Math.floor(Math.max(watched.elapsedMs, 0) / POLL_EVERYTHING_MS) * each;
}
