// How long the workers of a run waited on people: from the moment a pull request was ready to the first verdict
// on it, its merge or its end. Approximated from what the board keeps:
//   - ready is when it was opened; when a draft became ready is not kept, and a draft does not wait at all;
//   - of each reviewer only the last word is kept: who asked for changes and approved later counts until the
//     approval, with the hours in which the worker mended it;
//   - hours with failing checks are in it, as are nights and week-ends;
//   - a verdict that only a poll told has no time of its own: the last line on the reviews stands for it.
import type { PullRequest } from '../state/pull-request.ts';
import type { Worker } from '../state/worker.ts';
import { reviewVerdictOf, waitsForPerson } from './review-load.ts';

const HOUR_MS = 3_600_000;

/** `until` is null while it waits. */
export type TicketWait = { ticket: string; pr: number; hours: number; since: string; until: string | null };
export type WaitHours = { hours: number; waiting: number; tickets: TicketWait[] };

/** `pullRequestOf` finds the pull request of a worker on the board. */
export function waitHours({
  workers,
  pullRequestOf,
  now,
}: {
  workers: Iterable<Worker>;
  pullRequestOf: (worker: Worker) => PullRequest | undefined;
  now: string;
}): WaitHours {
  const tickets: TicketWait[] = [];
  for (const worker of workers) {
    const pullRequest = pullRequestOf(worker);
    const wait = pullRequest && waitOf(worker, pullRequest, now);
    if (wait !== undefined) tickets.push(wait);
  }
  const hours = tickets.reduce((sum, wait) => sum + wait.hours, 0);
  return { hours, waiting: tickets.filter(({ until }) => until === null).length, tickets };
}

function waitOf(worker: Worker, pullRequest: PullRequest, now: string): TicketWait | undefined {
  const since = pullRequest.openedAt ?? worker.signal?.pr?.openedAt;
  const until = endOf(pullRequest);
  const isWaiting = until === null && waitsForPerson(pullRequest);
  if (since === undefined || since === null || (until === null && !isWaiting)) return undefined;
  const passed = Date.parse(until ?? now) - Date.parse(since);
  const hours = Number.isFinite(passed) ? Math.max(0, passed / HOUR_MS) : 0;
  return { ticket: worker.ticket, pr: pullRequest.number, hours, since, until };
}

/** The first of all that can end the wait. */
function endOf(pullRequest: PullRequest): string | null {
  const { reviews, reviewDecision, merge, closedAt, judgedAt, lastAt, state } = pullRequest;
  const told = reviews.filter((review) => review.state !== 'dismissed').map(({ at }) => at ?? lastAt);
  if (told.length === 0 && reviewDecision !== null) told.push(judgedAt ?? lastAt);
  const counts = state !== 'open' || reviewVerdictOf(pullRequest) !== null;
  const moments = counts ? [...told, merge?.at ?? null, state === 'open' ? null : closedAt] : [];
  return moments
    .filter((moment) => moment !== null)
    .reduce<string | null>(
      (first, moment) => (first === null || Date.parse(moment) < Date.parse(first) ? moment : first),
      null,
    );
}
