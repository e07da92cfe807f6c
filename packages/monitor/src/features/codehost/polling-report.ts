// How polling the code host goes, for `svc feeds` and `/api/health`: whether it works, and if not, why and how to fix
// it; and whether our clock is right.
import { CLOCK_TOLERANCE_MS, clockDistance } from '../../kernel/log/clock.ts';
import { hookHoldWords } from './hook-plan.ts';
import type { Coverage } from './io/subscribe.ts';
import { type CodehostProblem, codehostProblemWords } from './problem.ts';

export type PollingReport = {
  state: 'disabled' | 'starting' | 'polling' | 'failing';
  /** When a round last completed. */
  lastAt: string | null;
  code: string | null;
  why: string | null;
  remedy: string | null;
  /** Null if our clock agrees with the code host's, or the difference is not known yet. */
  clock: { aheadMs: number; why: string; remedy: string } | null;
};

export function pollingReport(given: {
  watches: boolean;
  lastAt: number | null;
  problem: CodehostProblem | null;
  clockAheadMs: number | null;
}): PollingReport {
  const { watches, problem } = given;
  const lastAt = given.lastAt === null ? null : new Date(given.lastAt).toISOString();
  const clock = clockReport(given.clockAheadMs);
  if (!watches) return { state: 'disabled', lastAt, ...nothingWatched, clock };
  if (problem !== null) return { state: 'failing', lastAt, ...codehostProblemWords(problem), clock };
  const state = lastAt === null ? 'starting' : 'polling';
  return { state, lastAt, code: null, why: null, remedy: null, clock };
}

export const nothingWatched = {
  code: 'not-configured',
  why: 'no repository is watched',
  remedy: 'Run: svc setup-webhooks --add-repo owner/repo',
};

function clockReport(aheadMs: number | null): PollingReport['clock'] {
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) return null;
  return {
    aheadMs,
    why: `this machine's clock is ${clockDistance(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the code host's`,
    remedy: 'Set the date of this machine, for instance: sudo timedatectl set-ntp true',
  };
}

// What covers a repository, for `svc feeds` and `/api/health`: with the reason and the remedy if it is only polled.

export type CoverageReport = {
  repo: string;
  by: Coverage['by'];
  since: string;
  hookId: number | null;
  code: string | null;
  why: string | null;
  remedy: string | null;
  /** When subscribing is retried; null if it is not. */
  retryAt: string | null;
};

export function coverageReport(coverage: Coverage): CoverageReport {
  const { repo, by } = coverage;
  const since = new Date(coverage.since).toISOString();
  if (coverage.by === 'webhook') {
    return { repo, by, since, hookId: coverage.hookId, code: null, why: null, remedy: null, retryAt: null };
  }
  const { problem, hold } = coverage;
  const words = problem === null ? hookHoldWords(repo, hold) : codehostProblemWords(problem);
  const retryAt = coverage.retryAt === null ? null : new Date(coverage.retryAt).toISOString();
  return { repo, by, since, hookId: null, ...words, retryAt };
}
