// A ticket after one more line. What the tracker tells replaces what it told of an earlier moment; what our
// own workflow tells is kept beside it.

import { feedGrades } from '../log/own-details.ts';
import { asFields, numberAt, objectAt, timeAt } from '../receive/payload-fields.ts';
import { putWorker } from './board-entities.ts';
import type { FeedState, FoldedLine, Ticket } from './board-types.ts';
import { type TicketPhase, ticketPhases } from './effect.ts';
import { isOlder, later, shortTextAt, upstreamTime } from './line-fields.ts';
import { attentionIdOf, reduceAttention } from './reduce-attention.ts';
import { workerKey } from './reduce-worker.ts';
import { ask, type Folds, type Turn } from './turn.ts';
import { causeHolds, resolve } from './worker-attention.ts';

const MOST_LABELS = 50;
const phases: ReadonlySet<string> = new Set(ticketPhases);

export function reduceTicket(known: Ticket | undefined, line: FoldedLine): Ticket | undefined {
  const { ticket } = line.scope;
  if (ticket === undefined) return known;
  const before = known ?? unknownTicket(ticket, line);
  if (line.event.startsWith('tracker.issue.')) return touched(afterTracker(before, line), line);
  if (line.event === 'workflow.ticket.phase_changed') {
    const phase = phaseAt(line, 'to');
    return phase === undefined
      ? known
      : touched({ ...before, phase: { phase, at: line.ts, seq: line.seq } }, line);
  }
  if (line.event === 'workflow.ticket.state_moved') return touched(afterOwnMove(before, line), line);
  return known;
}

/** The phase that a line names; undefined for a word that is none. */
function phaseAt({ detail }: FoldedLine, name: string): TicketPhase | undefined {
  const phase = detail[name];
  return isPhase(phase) ? phase : undefined;
}

function isPhase(value: unknown): value is TicketPhase {
  return typeof value === 'string' && phases.has(value);
}

function afterTracker(before: Ticket, line: FoldedLine): Ticket {
  const { detail } = line;
  const told = upstreamTime(line);
  if (isOlder(told, before.toldAt)) return before;
  return {
    ...before,
    title: shortTextAt(detail, 'title') ?? before.title,
    url: shortTextAt(detail, 'url') ?? before.url,
    state: stateIn(detail) ?? before.state,
    assignee: detail['assignee'] === null ? null : (assigneeIn(detail) ?? before.assignee),
    priority: numberAt(detail, 'priority') ?? before.priority,
    labels: labelsIn(detail) ?? before.labels,
    removed: line.event === 'tracker.issue.removed',
    toldAt: later(before.toldAt, told),
    via: line.via,
  };
}

function stateIn(detail: FoldedLine['detail']): Ticket['state'] | undefined {
  const state = asFields(detail['state']);
  return (
    state && {
      id: shortTextAt(state, 'id') ?? null,
      name: shortTextAt(state, 'name') ?? null,
      type: shortTextAt(state, 'type') ?? null,
    }
  );
}

function assigneeIn(detail: FoldedLine['detail']): string | undefined {
  const assignee = objectAt(detail, 'assignee');
  return shortTextAt(assignee, 'name') ?? shortTextAt(assignee, 'id');
}

function labelsIn({ labels }: FoldedLine['detail']): string[] | undefined {
  if (!Array.isArray(labels)) return undefined;
  return labels.slice(0, MOST_LABELS).filter((label) => typeof label === 'string');
}

/** Our own move, before the tracker confirms it. */
function afterOwnMove(before: Ticket, line: FoldedLine): Ticket {
  const { detail } = line;
  const name = shortTextAt(detail, 'to');
  const phase = phaseAt(line, 'phase');
  const isSame = before.state?.name === name;
  return {
    ...before,
    state:
      name === undefined || isSame
        ? before.state
        : { id: shortTextAt(detail, 'stateId') ?? null, name, type: null },
    phase: phase === undefined ? before.phase : { phase, at: line.ts, seq: line.seq },
  };
}

function touched(ticket: Ticket, line: FoldedLine): Ticket {
  return { ...ticket, lastSeq: line.seq, lastAt: line.ts };
}

function unknownTicket(ticket: string, line: FoldedLine): Ticket {
  return {
    ticket,
    title: null,
    url: null,
    state: null,
    assignee: null,
    priority: null,
    labels: [],
    phase: null,
    removed: false,
    toldAt: null,
    via: 'local',
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

// A feed after one more line: its grade is the topic's last word.

const grades: ReadonlyMap<string, string> = new Map(
  feedGrades.map((grade) => [`monitor.feed.${grade}`, grade]),
);

const feedTopics: readonly string[] = [...grades.keys()];

export function reduceFeed(known: FeedState | undefined, line: FoldedLine): FeedState | undefined {
  const feed = shortTextAt(line.detail, 'feed');
  const grade = grades.get(line.event);
  if (feed === undefined || grade === undefined) return known;
  const since = timeAt(line.detail, 'since') ?? line.ts;
  return {
    feed,
    grade,
    since: known?.grade === grade ? known.since : since,
    reason: shortTextAt(line.detail, 'reason') ?? null,
    remedy: shortTextAt(line.detail, 'remedy') ?? null,
    lastSeq: line.seq,
  };
}

// Lines of tickets, attention and feeds.

/** What the tracker tells only updates the ticket, so that our own write coming back causes nothing. */
function foldTicket(turn: Turn): void {
  const { board, line } = turn;
  const { ticket } = line.scope;
  if (ticket === undefined) return;
  const next = reduceTicket(board.tickets.get(ticket), line);
  if (next === undefined) return;
  board.tickets.set(ticket, next);
  const phase = line.event === 'workflow.ticket.phase_changed' ? phaseAt(line, 'to') : undefined;
  if (phase !== undefined) ask(turn, ticket, { kind: 'move-ticket', ticket, phase });
}

function foldAttention(turn: Turn): void {
  const { board, line } = turn;
  const id = attentionIdOf(line);
  if (id === undefined) return;
  const known = board.attention.get(id);
  const item = reduceAttention(known, line);
  if (item === undefined) {
    board.attention.delete(id);
    return;
  }
  board.attention.set(id, item);
  if (line.event !== 'comms.attention') return;
  if (isGone(turn)) return;
  if (known !== undefined) return;
  const { reason, severity, message, remedy } = item;
  ask(turn, id, { kind: 'notify', attention: id, reason, severity, message, remedy });
}

/** Our own line was on its way while its cause went: it is taken back at once, and nobody is told. */
function isGone(turn: Turn): boolean {
  const { board, line } = turn;
  const { orchestrator, ticket } = line.scope;
  const reason = shortTextAt(line.detail, 'reason');
  if (line.source !== 'monitor') return false;
  if (orchestrator === undefined || ticket === undefined || reason === undefined) return false;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  if (worker === undefined || causeHolds(board, worker, reason) !== false) return false;
  const next = resolve(turn, worker, reason);
  if (next !== worker) putWorker(board, next);
  return true;
}

function foldFeed({ board, line }: Turn): void {
  const feed = shortTextAt(line.detail, 'feed');
  if (feed === undefined) return;
  const state = reduceFeed(board.feeds.get(feed), line);
  if (state !== undefined) board.feeds.set(feed, state);
}

const trackerActions = [
  'created',
  'state_changed',
  'priority_changed',
  'assignee_changed',
  'updated',
  'removed',
];
const attentionTopics = [
  'attention',
  'attention_resolved',
  'attention_acknowledged',
  'attention_snoozed',
  'attention_handed_over',
];

export const subjectFolds: Folds = [
  ...trackerActions.map((action) => [`tracker.issue.${action}`, foldTicket] as const),
  ['workflow.ticket.phase_changed', foldTicket],
  ['workflow.ticket.state_moved', foldTicket],
  ...attentionTopics.map((name) => [`comms.${name}`, foldAttention] as const),
  ...feedTopics.map((topic) => [topic, foldFeed] as const),
];
