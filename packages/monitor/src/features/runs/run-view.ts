// A run for display: its waves with the state of each ticket, and how long its workers waited for people.
import { type Board } from '../../kernel/board/board.ts';
import { costOfWorker, sumOfCosts } from '../agents/cost.ts';
import { pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { reviewVerdictOf, waitsForPerson } from '../pull-requests/pull-request-verdict.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { isShipped } from '../workers/status-groups.ts';
import { msWaited } from '../workers/waits.ts';
import type { Worker } from '../workers/worker.ts';
import type { RunView } from './api.ts';
import type { Run } from './run.ts';

export type RunTicketView = RunView['waves'][number]['tickets'][number];

export function runView(board: Board, run: Run, now: string): RunView {
  const workers = [...board.workers.values()].filter(({ orchestrator }) => orchestrator === run.orchestrator);
  const waves = run.plan?.waves ?? [run.tickets];
  const views = waves.map((tickets, index) => ({
    wave: index + 1,
    state: run.waves.find(({ wave }) => wave === index + 1)?.state ?? 'waiting',
    tickets: tickets.map((ticket) => ticketView(board, run.orchestrator, ticket)),
  }));
  const all = views.flatMap(({ tickets }) => tickets);
  const waited = waitHours({
    workers,
    pullRequestOf: (worker) => pullRequestOfWorker(board, worker),
    now,
  });
  const cost = sumOfCosts(workers.map(costOfWorker));
  return {
    orchestrator: run.orchestrator,
    name: run.name,
    state: run.state,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    project: run.plan?.project ?? null,
    maxParallel: run.plan?.maxParallel ?? run.maxParallel,
    waves: views,
    done: all.filter(isShipped).length,
    tickets: all.length,
    costUsd: cost.usd,
    costEstimated: cost.estimated,
    costPartial: cost.partial,
    waited,
  };
}

function ticketView(board: Board, orchestrator: string, ticket: string): RunTicketView {
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  const { state, remediation } = worker?.verification ?? {};
  const pullRequest = worker && pullRequestOfWorker(board, worker);
  const cost = worker && costOfWorker(worker);
  return {
    ticket,
    title: board.tickets.get(ticket)?.title ?? pullRequest?.title ?? null,
    status: worker?.status ?? null,
    since: worker?.statusSince ?? null,
    pr: pullRequest ? { number: pullRequest.number, url: pullRequest.url } : (worker?.pr ?? null),
    verification:
      state === 'failed' && remediation !== null ? `failed, filed as ${remediation}` : (state ?? null),
    error: worker?.signal?.error ?? null,
    costUsd: cost?.usd ?? null,
    costEstimated: cost?.estimated ?? false,
    costPartial: cost?.partial ?? false,
  };
}

// How long the workers of a run waited for people: from the time a pull request was ready until the first verdict on
// it, its merge or its end; and how long agents waited for an answer, which the board keeps. The first is approximated:
//   - ready is when it was opened; when a draft became ready is not kept, and a draft does not wait at all;
//   - only the latest verdict of each reviewer is kept: a reviewer who requested changes and approved later counts until
//     the approval, including the hours in which the worker fixed it;
//   - hours with failing checks are included, as are nights and week-ends;
//   - a verdict that only a poll found has no time: the last line about the reviews is used instead.

const HOUR_MS = 3_600_000;

/** `pullRequestOf` finds the pull request of a worker on the board. */
export function waitHours({
  workers,
  pullRequestOf,
  now,
}: {
  workers: Iterable<Worker>;
  pullRequestOf: (worker: Worker) => PullRequest | undefined;
  now: string;
}): RunView['waited'] {
  let hours = 0;
  let waiting = 0;
  for (const worker of workers) {
    const pullRequest = pullRequestOf(worker);
    const review = pullRequest && reviewWait(worker, pullRequest, now);
    hours += (review?.hours ?? 0) + msWaited(worker.waited, Date.parse(now)) / HOUR_MS;
    waiting += Number(review?.isWaiting === true) + Number(worker.waited.since !== null);
  }
  return { hours, waiting };
}

function reviewWait(
  worker: Worker,
  pullRequest: PullRequest,
  now: string,
): { hours: number; isWaiting: boolean } | undefined {
  const since = pullRequest.openedAt ?? worker.signal?.pr?.openedAt;
  const until = endOf(pullRequest);
  const isWaiting = until === null && waitsForPerson(pullRequest);
  if (since === undefined || since === null || (until === null && !isWaiting)) return undefined;
  const passed = Date.parse(until ?? now) - Date.parse(since);
  return { hours: Number.isFinite(passed) ? Math.max(0, passed / HOUR_MS) : 0, isWaiting };
}

/** The first event that can end the wait. */
function endOf(pullRequest: PullRequest): string | null {
  const { reviews, reviewDecision, merge, closedAt, judgedAt, lastAt, state } = pullRequest;
  const verdicts = reviews.filter((review) => review.state !== 'dismissed').map(({ at }) => at ?? lastAt);
  if (verdicts.length === 0 && reviewDecision !== null) verdicts.push(judgedAt ?? lastAt);
  const counts = state !== 'open' || reviewVerdictOf(pullRequest) !== null;
  const moments = counts ? [...verdicts, merge?.at ?? null, state === 'open' ? null : closedAt] : [];
  return moments
    .filter((moment) => moment !== null)
    .reduce<string | null>(
      (first, moment) => (first === null || Date.parse(moment) < Date.parse(first) ? moment : first),
      null,
    );
}
