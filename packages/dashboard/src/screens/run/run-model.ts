// A run as its screens show it, from the board of any moment and, for now, from the daemon's own view of it. The
// view knows tickets that have settled off the board.

import type { ApiAnswer, api, BoardView, RunTicketView } from '@svc/core';
import { isAgentsWork } from '@svc/core/browser';
import type { LiveBoard } from '../../live/board-store.ts';
import { type Standing, standingOf, statusMeaning, statusWords } from '../../parts/meaning.ts';

export type WorkerRow = BoardView['workers'][number];
export type RunRow = BoardView['runs'][number];
export type RunDetail = ApiAnswer<typeof api.getRun>;

export type RunTicket = {
  ticket: string;
  title: string | null;
  /** Null until it was dispatched. */
  status: string | null;
  since: string | null;
  wave: number | null;
  pr: { number: number; url: string | null } | null;
  error: string | null;
  costUsd: number | null;
  standing: Standing;
  /** Null when it was not dispatched, or has settled off the board. */
  worker: WorkerRow | null;
};
/** `wave` is null for tickets of which no wave is known yet; `state` until it began. */
export type RunWave = { wave: number | null; state: string | null; tickets: RunTicket[] };

export type RunModel = {
  orchestrator: string;
  name: string | null;
  state: RunRow['state'];
  startedAt: string | null;
  endedAt: string | null;
  project: string | null;
  maxParallel: number | null;
  /** svc starts its workers; otherwise somebody else conducts it. */
  isConducted: boolean;
  waves: RunWave[];
  tickets: RunTicket[];
  done: number;
  needYou: number;
  /** Workers whose agent is at work now. */
  working: number;
  costUsd: number | null;
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
  /** As the board has it; null when it has settled off the board. */
  run: RunRow | null;
  /** Null for a past moment. */
  view: RunDetail | null;
  board: Boards;
  /** Whether an item of attention of the ticket waits. */
  needsYou: (ticket: string) => boolean;
}): RunModel | null {
  const known = run ?? view;
  if (known === null) return null;
  const { orchestrator } = known;
  const told = new Map(
    view?.waves.flatMap(({ tickets }) => tickets).map((ticket) => [ticket.ticket, ticket]) ?? [],
  );
  const waves = (run === null ? wavesOfView(view) : wavesOfRun(run)).map(({ wave, state, tickets }) => ({
    wave,
    state,
    tickets: tickets.map((ticket) =>
      ticketOf({
        ticket,
        wave,
        board,
        worker: board.workers.get(`${orchestrator}/${ticket}`) ?? null,
        told: told.get(ticket) ?? null,
        needsYou: needsYou(ticket),
      }),
    ),
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
    isConducted: (run?.plan?.project ?? view?.project ?? null) !== null,
    waves,
    tickets,
    done: tickets.filter(({ status }) => status === 'done').length,
    needYou: tickets.filter(({ standing }) => standing.meaning === 'you').length,
    working: tickets.filter(({ worker }) => worker !== null && isAtWork(worker)).length,
    costUsd: sumOf(tickets.map(({ costUsd }) => costUsd)),
    tokens: tokensOf(tickets),
    waited: view?.waited ?? null,
    holds: view?.holds ?? [],
  };
}

type NamedWave = { wave: number | null; state: string | null; tickets: readonly string[] };

/** By the plan; without one by what was told of waves, and the rest in a wave that nobody named. */
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
  told,
  board,
  needsYou,
}: {
  ticket: string;
  wave: number | null;
  worker: WorkerRow | null;
  told: RunTicketView | null;
  board: Boards;
  needsYou: boolean;
}): RunTicket {
  const status = worker?.status ?? told?.status ?? null;
  const pullRequest = board.pullRequests.get(worker?.pullRequestKey ?? '') ?? null;
  return {
    ticket,
    title: board.tickets.get(ticket)?.title ?? told?.title ?? pullRequest?.title ?? null,
    status,
    since: worker?.statusSince ?? told?.since ?? null,
    wave: wave ?? worker?.wave ?? null,
    pr: worker?.pr ?? told?.pr ?? null,
    error: worker?.error ?? told?.error ?? null,
    costUsd: worker?.cost?.usd ?? told?.costUsd ?? null,
    standing:
      worker === null
        ? { meaning: statusMeaning(status), words: statusWords(status) }
        : standingOf(worker, needsYou, pullRequest),
    worker,
  };
}

function isAtWork({ status, life }: WorkerRow): boolean {
  return life.state === 'alive' || (isAgentsWork(status) && life.state !== 'dead');
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
