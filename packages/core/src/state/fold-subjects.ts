// Lines of tickets, attention and feeds.

import { putWorker } from './board-entities.ts';
import { shortTextAt } from './line-fields.ts';
import { attentionIdOf, reduceAttention } from './reduce-attention.ts';
import { feedTopics, reduceFeed } from './reduce-feed.ts';
import { phaseAt, reduceTicket } from './reduce-ticket.ts';
import { workerKey } from './reduce-worker.ts';
import { ask, type Folds, type Turn } from './turn.ts';
import { causeHolds, resolve } from './worker-attention.ts';

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
