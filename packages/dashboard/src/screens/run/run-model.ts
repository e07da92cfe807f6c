// A run as the screens show it, from a live or past board and, if live, from the daemon's view of the run, which
// includes tickets that have settled off the board.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import type { api } from 'svc-monitor/src/features/api.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import type { TeamWorkerView } from 'svc-monitor/src/features/board/team-entity.ts';
import type { RunTicketView } from 'svc-monitor/src/features/runs/run-view.ts';
import { isShipped } from 'svc-monitor/src/features/workers/status-groups.ts';
import { statusMeaning, statusWords, workerLabel } from 'svc-monitor/src/features/workers/worker-label.ts';
import type { StateLabel } from 'svc-monitor/src/kernel/board/label.ts';
import type { ApiAnswer } from 'svc-monitor/src/kernel/http/api-route.ts';
import type { LiveBoard } from '../../live/board-store.ts';

export type WorkerRow = TeamWorkerView;
export type RunRow = BoardView['runs'][number];
export type RunDetail = ApiAnswer<typeof api.getRun>;

export type RunTicket = {
  ticket: string;
  title: string | null;
  /** Null until dispatched. */
  status: string | null;
  since: string | null;
  wave: number | null;
  pr: { number: number; url: string | null } | null;
  error: string | null;
  costUsd: number | null;
  costEstimated: boolean;
  costPartial: boolean;
  label: StateLabel;
  /** Null if not dispatched, or settled off the board. */
  worker: WorkerRow | null;
};
/** `wave` is null for tickets without a known wave; `state` until it starts. */
export type RunWave = { wave: number | null; state: string | null; tickets: RunTicket[] };

export type RunModel = {
  orchestrator: string;
  name: string | null;
  state: RunRow['state'];
  startedAt: string | null;
  endedAt: string | null;
  project: string | null;
  maxParallel: number | null;
  /** svc starts its workers; otherwise another orchestrator does. */
  isManaged: boolean;
  waves: RunWave[];
  tickets: RunTicket[];
  done: number;
  needYou: number;
  /** Workers whose agent is running. */
  working: number;
  costUsd: number | null;
  costEstimated: boolean;
  costPartial: boolean;
  tokens: { input: number; output: number } | null;
  waited: RunDetail['waited'] | null;
  holds: RunDetail['holds'];
};

type Boards = Pick<LiveBoard, 'workers' | 'tickets' | 'pullRequests'>;

export function runModel({
  run,
  view,
  board,
  needsYou,
}: {
  /** From the board; null if it has settled off the board. */
  run: RunRow | null;
  /** Null for a past time. */
  view: RunDetail | null;
  board: Boards;
  needsYou: (worker: WorkerRow) => boolean;
}): RunModel | null {
  const known = run ?? view;
  if (known === null) return null;
  const { orchestrator } = known;
  const views = new Map(
    view?.waves.flatMap(({ tickets }) => tickets).map((ticket) => [ticket.ticket, ticket]) ?? [],
  );
  const waves = (run === null ? wavesOfView(view) : wavesOfRun(run)).map(({ wave, state, tickets }) => ({
    wave,
    state,
    tickets: tickets.map((ticket) => {
      const worker = board.workers.get(`${orchestrator}/${ticket}`) ?? null;
      return ticketOf({
        ticket,
        wave,
        board,
        worker,
        view: views.get(ticket) ?? null,
        needsYou: worker !== null && needsYou(worker),
      });
    }),
  }));
  const tickets = waves.flatMap((wave) => wave.tickets);
  return {
    orchestrator,
    name: run?.name ?? view?.name ?? null,
    state: known.state,
    startedAt: known.startedAt,
    endedAt: known.endedAt,
    project: run?.plan?.project ?? view?.project ?? null,
    maxParallel: run?.plan?.maxParallel ?? known.maxParallel,
    isManaged: (run?.plan?.project ?? view?.project ?? null) !== null,
    waves,
    tickets,
    done: tickets.filter(isShipped).length,
    needYou: tickets.filter(({ label }) => label.meaning === 'you').length,
    working: tickets.filter(({ worker }) => worker !== null && isAtWork(worker)).length,
    costUsd: sumOf(tickets.map(({ costUsd }) => costUsd)),
    costEstimated: tickets.some(({ costEstimated }) => costEstimated),
    costPartial: tickets.some(
      ({ costUsd, costPartial, status }) => costPartial || (costUsd === null && status !== null),
    ),
    tokens: tokensOf(tickets),
    waited: view?.waited ?? null,
    holds: view?.holds ?? [],
  };
}

type NamedWave = { wave: number | null; state: string | null; tickets: readonly string[] };

/** From the plan; without one from the reported waves, with the remaining tickets in an unnamed wave. */
export function wavesOfRun(run: Pick<RunRow, 'plan' | 'waves' | 'tickets'>): NamedWave[] {
  const stateOf = (wave: number): string | null => run.waves.find((one) => one.wave === wave)?.state ?? null;
  if (run.plan !== null)
    return run.plan.waves.map((tickets, index) => ({ wave: index + 1, state: stateOf(index + 1), tickets }));
  const waves: NamedWave[] = run.waves
    .toSorted((one, other) => one.wave - other.wave)
    .map(({ wave, state, tickets }) => ({ wave, state, tickets }));
  const placed = new Set(waves.flatMap(({ tickets }) => tickets));
  const rest = run.tickets.filter((ticket) => !placed.has(ticket));
  return rest.length === 0 ? waves : [...waves, { wave: null, state: null, tickets: rest }];
}

function wavesOfView(view: RunDetail | null): NamedWave[] {
  return (view?.waves ?? []).map(({ wave, state, tickets }) => ({
    wave,
    state: state === 'waiting' ? null : state,
    tickets: tickets.map(({ ticket }) => ticket),
  }));
}

function ticketOf({
  ticket,
  wave,
  worker,
  view,
  board,
  needsYou,
}: {
  ticket: string;
  wave: number | null;
  worker: WorkerRow | null;
  view: RunTicketView | null;
  board: Boards;
  needsYou: boolean;
}): RunTicket {
  const status = worker?.status ?? view?.status ?? null;
  const pullRequest = board.pullRequests.get(worker?.pullRequestKey ?? '') ?? null;
  return {
    ticket,
    title: board.tickets.get(ticket)?.title ?? view?.title ?? pullRequest?.title ?? worker?.title ?? null,
    status,
    since: worker?.statusSince ?? view?.since ?? null,
    wave: wave ?? worker?.wave ?? null,
    pr: worker?.pr ?? view?.pr ?? null,
    error: worker?.error ?? view?.error ?? null,
    costUsd: worker?.cost?.usd ?? view?.costUsd ?? null,
    costEstimated: worker?.cost?.estimated ?? view?.costEstimated ?? false,
    costPartial: worker?.cost?.partial ?? view?.costPartial ?? false,
    label:
      worker === null
        ? { meaning: statusMeaning(status), words: statusWords(status) }
        : workerLabel(worker, needsYou, pullRequest),
    worker,
  };
}

function isAtWork({ status, process }: WorkerRow): boolean {
  return process.state === 'alive' || (isAgentsWork(status) && process.state !== 'dead');
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function tokensOf(tickets: readonly RunTicket[]): RunModel['tokens'] {
  const input = sumOf(tickets.map(({ worker }) => worker?.cost?.inputTokens ?? null));
  const output = sumOf(tickets.map(({ worker }) => worker?.cost?.outputTokens ?? null));
  return input === null || output === null ? null : { input, output };
}
