// A run for whoever looks at it: its waves with the standing of each ticket, and how long its workers waited on
// people.
import type { Board } from '../state/board.ts';
import { pullRequestOfWorker, workerKey } from '../state/board.ts';
import type { Run } from '../state/run.ts';
import { waitHours } from './wait-hours.ts';

export type RunTicketView = {
  ticket: string;
  title: string | null;
  /** Null until it was dispatched. */
  status: string | null;
  since: string | null;
  pr: { number: number; url: string | null } | null;
  verification: string | null;
  error: string | null;
  costUsd: number | null;
};

export type RunView = {
  orchestrator: string;
  name: string | null;
  state: Run['state'];
  startedAt: string | null;
  endedAt: string | null;
  project: string | null;
  maxParallel: number | null;
  waves: { wave: number; state: string; tickets: RunTicketView[] }[];
  done: number;
  tickets: number;
  costUsd: number | null;
  /** Hours that its workers waited on people, and how many wait now. */
  waited: { hours: number; waiting: number };
};

export function runView(board: Board, run: Run, now: string): RunView {
  const workers = [...board.workers.values()].filter(({ orchestrator }) => orchestrator === run.orchestrator);
  const waves = run.plan?.waves ?? [run.tickets];
  const views = waves.map((tickets, index) => ({
    wave: index + 1,
    state: run.waves.find(({ wave }) => wave === index + 1)?.state ?? 'waiting',
    tickets: tickets.map((ticket) => ticketView(board, run.orchestrator, ticket)),
  }));
  const all = views.flatMap(({ tickets }) => tickets);
  const { hours, waiting } = waitHours({
    workers,
    pullRequestOf: (worker) => pullRequestOfWorker(board, worker),
    now,
  });
  const costs = all.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    orchestrator: run.orchestrator,
    name: run.name,
    state: run.state,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    project: run.plan?.project ?? null,
    maxParallel: run.plan?.maxParallel ?? run.maxParallel,
    waves: views,
    done: all.filter(({ status }) => status === 'done').length,
    tickets: all.length,
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    waited: { hours, waiting },
  };
}

function ticketView(board: Board, orchestrator: string, ticket: string): RunTicketView {
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  const { state, remediation } = worker?.verification ?? {};
  const pullRequest = worker && pullRequestOfWorker(board, worker);
  return {
    ticket,
    title: board.tickets.get(ticket)?.title ?? pullRequest?.title ?? null,
    status: worker?.status ?? null,
    since: worker?.statusSince ?? null,
    pr: pullRequest ? { number: pullRequest.number, url: pullRequest.url } : (worker?.pr ?? null),
    verification:
      state === 'failed' && remediation !== null ? `failed, filed as ${remediation}` : (state ?? null),
    error: worker?.signal?.error ?? null,
    costUsd: worker?.signal?.cost?.usd ?? null,
  };
}
