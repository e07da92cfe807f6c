// How many calls the code host's API may be asked for. A person's own work uses the same quota, so that we
// take a part of it and stop early. A call may be made when all of these hold:
//
//   calls an hour   fewer than `callsPerHour` were made in the last sixty minutes;
//   quota           the code host last said that more than the reserve is left, or its reset has passed;
//   breaker closed  it did not ask for a pause, and did not fail `failuresToTrip` times in a row. After the
//                   pause one call decides: success closes the breaker, failure opens it for twice as long.
//
// Pure: the clock is passed in, and every function returns the next state.
import type { ApiQuota } from './api-answer.ts';
import type { CodehostProblem } from './problem.ts';

export type BudgetRules = {
  callsPerHour: number;
  /** The part of the quota that is left to people. */
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
  /** Calls by minute, the last sixty minutes of them, oldest first. */
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

/** Counted when they are made, whatever becomes of them. */
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

/** What the newest answer says of its quota. */
export function withQuota(budget: ApiBudget, quota: ApiQuota): ApiBudget {
  return { ...budget, quotas: { ...budget.quotas, [quota.resource]: quota } };
}

/** What became of a call; no problem means that the code host works. */
export function withOutcome(
  budget: ApiBudget,
  problem: CodehostProblem | undefined,
  now: number,
  rules: BudgetRules = standardBudget,
): ApiBudget {
  if (problem?.kind === 'rate-limited') {
    // A quota that is used up is known as such, and leaves the other one alone.
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

/** A clock that was set back leaves minutes of the future behind: they count as now. */
function recent(budget: ApiBudget, now: number): ApiBudget['minutes'] {
  const minute = Math.floor(now / MINUTE_MS);
  return budget.minutes
    .filter((entry) => entry.minute > minute - HOUR_MINUTES)
    .map((entry) => (entry.minute > minute ? { ...entry, minute } : entry));
}

// What the earlier model would have cost: it asked for everything every 30 seconds. Per pull request it made
// one call each for the pull request, its reviews, review comments, comments, check suites, statuses and
// deployments; per repository one for the list of pull requests. 30 workers over 10 repositories came to
// 26,400 calls an hour.

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
