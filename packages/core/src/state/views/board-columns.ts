// Which column of the board a card is in, and in which order. Every reader of the board uses this rule, including the
// dashboard in the browser: nothing here needs a schema, a clock or the viewer's time zone.

import type { BoardView } from '../../api/board.ts';
import type { PullRequestView, WorkerView } from '../../api/entities.ts';
import { isAgentsWork } from '../../runs/worker-statuses.ts';
import { ticketsNotOver } from '../../tracker/dependencies.ts';
import type { AttentionItem, Worker } from '../board-types.ts';

/** In the order of the work; a narrow screen shows what needs a person first. */
export const boardColumnNames = ['working', 'needs-you', 'in-review', 'shipping', 'done-today'] as const;
export type BoardColumn = (typeof boardColumnNames)[number];

/** Why a worker is in no column. */
export type OffBoard = 'canceled' | 'removed' | 'earlier';

type TicketRow = BoardView['tickets'][number];
/** On the board of a team: the machine that published it; absent for this machine. */
type OnMachine = { machine?: string };
type AttentionRow = BoardView['attention'][number] & OnMachine;

export type WorkerCard = {
  kind: 'worker';
  key: string;
  /** When it entered its column; for a card that needs a person, since when it has been waiting. */
  since: string;
  worker: WorkerView & OnMachine;
  pullRequest: PullRequestView | null;
  ticket: TicketRow | null;
  /** Open and not snoozed, the longest open first. */
  attention: AttentionRow[];
};
/** An open pull request without a worker on the board. */
export type PullRequestCard = {
  kind: 'pull-request';
  key: string;
  since: string;
  worker: null;
  pullRequest: PullRequestView;
  ticket: TicketRow | null;
  attention: AttentionRow[];
};
export type BoardCard = WorkerCard | PullRequestCard;

export type BoardColumns = {
  columns: Record<BoardColumn, BoardCard[]>;
  /** How many workers are in no column, by reason. */
  off: Record<OffBoard, number>;
};

/** Tickets that a run can be started for, newest first: seen in the tracker, not closed, and in no run that goes on. */
export function openTickets(board: {
  tickets: Iterable<TicketRow>;
  runs: Iterable<BoardView['runs'][number]>;
}): TicketRow[] {
  const taken = new Set(
    [...board.runs]
      .filter(({ state }) => state !== 'completed' && state !== 'canceled')
      .flatMap(({ tickets, plan }) => [...tickets, ...(plan?.waves.flat() ?? [])])
      .map((ticket) => ticket.toUpperCase()),
  );
  return ticketsNotOver(board.tickets).filter(
    ({ ticket, title }) => title !== null && !taken.has(ticket.toUpperCase()),
  );
}

export type BoardColumnsInput = {
  [Kind in 'workers' | 'pullRequests' | 'tickets' | 'attention']: Iterable<
    BoardView[Kind][number] & OnMachine
  >;
} & {
  now: number;
  /** When the viewer's day started. */
  dayStart: number;
};

export function boardColumns({ now, dayStart, ...board }: BoardColumnsInput): BoardColumns {
  const pullRequests = new Map([...board.pullRequests].map((one) => [one.key, one]));
  const tickets = new Map([...board.tickets].map((one) => [one.ticket.toUpperCase(), one]));
  const attention = Map.groupBy(
    [...board.attention].filter((item) => item.ticket !== null && isAwake(item, now)).toSorted(byOpening),
    ({ ticket }) => ticket?.toUpperCase() ?? '',
  );
  const ticketOf = (name: string | null): TicketRow | null => tickets.get(name?.toUpperCase() ?? '') ?? null;
  const itemsOf = (name: string | null): AttentionRow[] => attention.get(name?.toUpperCase() ?? '') ?? [];

  const columns: BoardColumns['columns'] = {
    working: [],
    'needs-you': [],
    'in-review': [],
    shipping: [],
    'done-today': [],
  };
  const off: BoardColumns['off'] = { canceled: 0, removed: 0, earlier: 0 };
  const shown = new Set<string>();

  for (const worker of board.workers) {
    const { key, orchestrator, pullRequestKey } = worker;
    const items = itemsOf(worker.ticket).filter(
      (item) =>
        item.machine === worker.machine && (item.orchestrator === null || item.orchestrator === orchestrator),
    );
    const pullRequest = pullRequests.get(pullRequestKey ?? '') ?? null;
    const column = columnOfWorker(worker, { pullRequest, needsPerson: items.length > 0, dayStart });
    if (isOff(column)) {
      off[column] += 1;
      continue;
    }
    if (pullRequestKey !== null) shown.add(pullRequestKey);
    const since = column === 'needs-you' ? waitingSince(worker, items) : worker.statusSince;
    const ticket = ticketOf(worker.ticket);
    columns[column].push({ kind: 'worker', key, since, worker, pullRequest, ticket, attention: items });
  }
  for (const pullRequest of pullRequests.values()) {
    const { key, state, author, lastAt } = pullRequest;
    if (state !== 'open' || shown.has(key) || (pullRequest.ticket === null && author === null)) continue;
    // An item with a run belongs to a worker that is not on the board.
    const items = itemsOf(pullRequest.ticket).filter(({ orchestrator }) => orchestrator === null);
    const [first] = items;
    columns[first === undefined ? 'in-review' : 'needs-you'].push({
      kind: 'pull-request',
      key,
      since: first?.openedAt ?? pullRequest.openedAt ?? lastAt,
      worker: null,
      pullRequest,
      ticket: ticketOf(pullRequest.ticket),
      attention: items,
    });
  }
  for (const name of boardColumnNames) columns[name].sort(name === 'needs-you' ? oldestFirst : newestFirst);
  return { columns, off };
}

type Placed = Pick<Worker, 'status' | 'statusSince' | 'removed' | 'process' | 'deploy'>;

/** The column of one worker, or why it has none. Whatever needs a person is in `needs-you`, at any stage of the work. */
export function columnOfWorker(
  worker: Placed,
  given: {
    pullRequest: Pick<PullRequestView, 'state'> | null;
    /** An attention item for it is open and not snoozed. */
    needsPerson: boolean;
    dayStart: number;
  },
): BoardColumn | OffBoard {
  if (worker.removed) return 'removed';
  if (worker.status === 'canceled') return 'canceled';
  if (given.needsPerson || onlyPersonMoves(worker)) return 'needs-you';
  switch (worker.status) {
    case 'dispatched':
    case 'researching':
    case 'planning':
    case 'implementing':
    case 'validating':
    case 'shipping':
      return 'working';
    case 'pr-created':
    case 'merging':
      return given.pullRequest?.state === 'merged' ? 'shipping' : 'in-review';
    case 'merged':
    case 'deploying':
    case 'deploy-failed':
      return 'shipping';
    case 'done':
      return Date.parse(worker.statusSince) >= given.dayStart ? 'done-today' : 'earlier';
    case 'failed':
    case 'stalled':
      return 'needs-you';
  }
}

/** Its agent is gone or has given up, or its deploy budget is exhausted. */
function onlyPersonMoves({ status, process, deploy }: Placed): boolean {
  if (status === 'failed' || status === 'stalled') return true;
  if (status === 'deploy-failed') return deploy?.result === 'budget-exhausted';
  // Once there is a pull request, no process is needed.
  return isAgentsWork(status) && process.state === 'dead' && process.reviving !== true;
}

function isAwake({ snoozedUntil }: AttentionItem, now: number): boolean {
  return snoozedUntil === null || Date.parse(snoozedUntil) <= now;
}

function isOff(column: BoardColumn | OffBoard): column is OffBoard {
  return column === 'canceled' || column === 'removed' || column === 'earlier';
}

/** Since its first item was opened; without an item, since its process died or its status changed. */
function waitingSince({ statusSince, status, process }: WorkerView, [first]: AttentionRow[]): string {
  if (first !== undefined) return first.openedAt;
  return isAgentsWork(status) ? process.since : statusSince;
}

const byOpening = (one: AttentionRow, other: AttentionRow): number => one.openedSeq - other.openedSeq;
const oldestFirst = (one: BoardCard, other: BoardCard): number =>
  Date.parse(one.since) - Date.parse(other.since) || compareKeys(one, other);
const newestFirst = (one: BoardCard, other: BoardCard): number =>
  Date.parse(other.since) - Date.parse(one.since) || compareKeys(one, other);
/** A stable order, so cards do not move without a reason. */
const compareKeys = (one: BoardCard, other: BoardCard): number => (one.key < other.key ? -1 : 1);
