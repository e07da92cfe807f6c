// What covers a repository, for `svc feeds` and `/api/health`: with the reason and the remedy where it is
// only polled.
import { codehostProblemWords, hookHoldWords } from '@svc/core';
import type { Coverage } from './subscribe.ts';

export type CoverageReport = {
  repo: string;
  by: Coverage['by'];
  since: string;
  hookId: number | null;
  code: string | null;
  why: string | null;
  remedy: string | null;
  /** When subscribing is tried again; null when it is not. */
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
