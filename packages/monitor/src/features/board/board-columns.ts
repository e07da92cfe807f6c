// Which column of the board a card is in, and in which order. Every reader of the board uses this rule, including the
// dashboard in the browser: nothing here needs a schema, a clock or the viewer's time zone.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import type { AttentionItem } from '../attention/attention-item.ts';
import type { PullRequestView } from '../pull-requests/entity.ts';
import type { WorkerView } from '../workers/entity.ts';
import type { BoardView } from './api.ts';
import type { TeamWorkerView } from './team-entity.ts';

/** What needs a person comes first, then the order of the work. */
export const boardColumnNames = ['needs-you', 'working', 'in-review', 'shipping', 'done-today'] as const;
export type BoardColumn = (typeof boardColumnNames)[number];

/** Why a worker is in no column. */
export type OffBoard = 'canceled' | 'removed' | 'earlier';

type TicketRow = BoardView['tickets'][number];
/** On the board of a team: the machine that published it; absent for this machine. */
type OnMachine = { machine?: string };
/** `isForMe`: of another machine, and handed over to this person. */
type AttentionRow = BoardView['attention'][number] & OnMachine & { isForMe?: boolean };
type SessionRow = BoardView['sessions'][number] & OnMachine;

type WorkerCard = {
  kind: 'worker';
  key: string;
  /** When it entered its column; for a card that needs a person, since when it has been waiting. */
  since: string;
  worker: TeamWorkerView & OnMachine;
  pullRequest: PullRequestView | null;
  ticket: TicketRow | null;
  /** Open and not snoozed, the longest open first. */
  attention: AttentionRow[];
  /** Until when its first snoozed item is hidden; null if none is. */
  snoozedUntil: string | null;
};
/** An open pull request without a worker on the board. */
type PullRequestCard = {
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

export type BoardColumnsInput = {
  [Kind in 'workers' | 'pullRequests' | 'tickets']: Iterable<BoardView[Kind][number] & OnMachine>;
} & {
  attention: Iterable<AttentionRow>;
  now: number;
  /** When the viewer's day started. */
  dayStart: number;
};
export type NeedsYouInput = Omit<BoardColumnsInput, 'dayStart'> & { sessions: Iterable<SessionRow> };

export function boardColumns({ now, dayStart, ...board }: BoardColumnsInput): BoardColumns {
  const pullRequests = new Map([...board.pullRequests].map((one) => [one.key, one]));
  const tickets = new Map([...board.tickets].map((one) => [one.ticket.toUpperCase(), one]));
  const attention = Map.groupBy(
    [...board.attention].filter(({ ticket }) => ticket !== null).toSorted(byOpening),
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
    const { key, pullRequestKey } = worker;
    const own = itemsOf(worker.ticket).filter((item) => isOf(item, worker));
    const items = own.filter((item) => isAwake(item, now));
    const snoozedUntil = own.find((item) => !isAwake(item, now))?.snoozedUntil ?? null;
    const pullRequest = pullRequests.get(pullRequestKey ?? '') ?? null;
    const column = columnOfWorker(worker, { pullRequest, needsPerson: needsPerson(worker, items), dayStart });
    if (isOff(column)) {
      off[column] += 1;
      continue;
    }
    if (pullRequestKey !== null) shown.add(pullRequestKey);
    const since = column === 'needs-you' ? waitingSince(worker, items) : worker.statusSince;
    const ticket = ticketOf(worker.ticket);
    const card = { key, since, worker, pullRequest, ticket, attention: items, snoozedUntil };
    columns[column].push({ kind: 'worker', ...card });
  }
  for (const pullRequest of pullRequests.values()) {
    const { key, state, author, lastAt } = pullRequest;
    if (state !== 'open' || shown.has(key) || (pullRequest.ticket === null && author === null)) continue;
    // An item with a run belongs to a worker that is not on the board, and one of another machine to what is there.
    const items = itemsOf(pullRequest.ticket).filter(
      (item) => item.orchestrator === null && item.machine === undefined && isAwake(item, now),
    );
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

/** One thing that needs a person, with the items of it that nobody has taken: a card, a session, or else its only item. */
export type WaitingThing = {
  card: BoardCard | null;
  session: SessionRow | null;
  items: AttentionRow[];
};

/**
 * Everything that needs a person: the cards of the column, agents that people started, and every other item, such as a
 * problem of svc itself or a ticket that has no card. No item is in two of them.
 */
export function whatNeedsYou({ sessions, ...board }: NeedsYouInput): WaitingThing[] {
  const { columns } = boardColumns({ ...board, dayStart: board.now });
  const left = new Set([...board.attention].filter((item) => isWaiting(item, board.now)).toSorted(byOpening));
  const taken = (items: Iterable<AttentionRow>): AttentionRow[] =>
    [...items].filter((item) => left.delete(item));
  const cards = columns['needs-you'].map((card) => ({ card, session: null, items: taken(card.attention) }));
  const waiting = [...sessions]
    .filter(({ state }) => state.startsWith('needs-'))
    .map((session) => ({
      card: null,
      session,
      items: taken([...left].filter((item) => isOfSession(item, session))),
    }));
  return [...cards, ...waiting, ...[...left].map((item) => ({ card: null, session: null, items: [item] }))];
}

export type NeedsYou = {
  /** Workers and pull requests: the cards of the column. */
  cards: number;
  /** What has no card. */
  others: number;
  total: number;
};

/** How much needs a person: the one number of the column, the navigation, the tab, the command line and the API. */
export function needsYouCount(board: NeedsYouInput): NeedsYou {
  const things = whatNeedsYou(board);
  const cards = things.filter(({ card }) => card !== null).length;
  return { cards, others: things.length - cards, total: things.length };
}

/** Whether an item waits for this person: nobody has acknowledged it, has it instead, or has snoozed it. */
export function isWaiting(
  item: Pick<AttentionRow, 'acknowledged' | 'handedOver' | 'snoozedUntil' | 'isForMe'>,
  now: number,
): boolean {
  const { acknowledged, handedOver, isForMe } = item;
  const isElsewhere = handedOver !== null && handedOver.pending !== true && isForMe !== true;
  return acknowledged === null && !isElsewhere && isAwake(item, now);
}

/**
 * Whether a person has to act on the worker: its own state says so, whatever was done with its attention items, or an
 * item is open and not snoozed. Every count of what needs a person comes from here.
 */
export function needsPerson({ needs }: Pick<WorkerView, 'needs'>, items: readonly AttentionItem[]): boolean {
  return needs.length > 0 || items.length > 0;
}

/** The items of a worker that are open and not snoozed. */
export function itemsOfWorker<Item extends AttentionRow>(
  worker: Pick<WorkerView, 'ticket' | 'orchestrator'> & OnMachine,
  items: Iterable<Item>,
  now: number,
): Item[] {
  const name = worker.ticket.toUpperCase();
  return [...items].filter(
    (item) => item.ticket?.toUpperCase() === name && isAwake(item, now) && isOf(item, worker),
  );
}

function isOf(
  item: AttentionRow,
  { machine, orchestrator }: Pick<WorkerView, 'orchestrator'> & OnMachine,
): boolean {
  return item.machine === machine && (item.orchestrator === null || item.orchestrator === orchestrator);
}

/** On the board of a team, the session of another machine has the key of its record. */
function isOfSession(item: AttentionRow, { key, machine }: SessionRow): boolean {
  const own = item.session ?? '';
  return item.machine === machine && (key === own || key === `${machine}/session/${own}`);
}

type Placed = Pick<WorkerView, 'status' | 'statusSince' | 'removed'>;

/** The column of one worker, or why it has none. Whatever needs a person is in `needs-you`, at any stage of the work. */
export function columnOfWorker(
  worker: Placed,
  given: {
    pullRequest: Pick<PullRequestView, 'state'> | null;
    needsPerson: boolean;
    dayStart: number;
  },
): BoardColumn | OffBoard {
  if (worker.removed) return 'removed';
  if (worker.status === 'canceled') return 'canceled';
  if (given.needsPerson) return 'needs-you';
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

function isAwake({ snoozedUntil }: Pick<AttentionItem, 'snoozedUntil'>, now: number): boolean {
  return snoozedUntil === null || Date.parse(snoozedUntil) <= now;
}

function isOff(column: BoardColumn | OffBoard): column is OffBoard {
  return column === 'canceled' || column === 'removed' || column === 'earlier';
}

/** Since its first item was opened; without an item, since its agent asked, its process died or its status changed. */
function waitingSince(
  { statusSince, status, process, agent, needs }: WorkerView,
  [first]: AttentionRow[],
): string {
  if (first !== undefined) return first.openedAt;
  if (agent !== null && needs.some((reason) => reason.startsWith('agent-'))) return agent.since;
  return isAgentsWork(status) ? process.since : statusSince;
}

const byOpening = (one: AttentionRow, other: AttentionRow): number => one.openedSeq - other.openedSeq;
const oldestFirst = (one: BoardCard, other: BoardCard): number =>
  Date.parse(one.since) - Date.parse(other.since) || compareKeys(one, other);
const newestFirst = (one: BoardCard, other: BoardCard): number =>
  Date.parse(other.since) - Date.parse(one.since) || compareKeys(one, other);
/** A stable order, so cards do not move without a reason. */
const compareKeys = (one: BoardCard, other: BoardCard): number => (one.key < other.key ? -1 : 1);
