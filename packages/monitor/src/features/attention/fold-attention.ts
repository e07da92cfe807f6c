// Events of attention items: raised and resolved by svc, acted on by people. An item whose cause can be seen on the board
// stays open as long as the cause exists: only svc resolves it. What a person did last can be undone.

import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import { causeHolds, needsOf, resolve, withOwnAttention } from '../workers/worker-attention.ts';
import type { AttentionItem, Undoable } from './attention-item.ts';
import { type AttentionLine, attentionIdOf, attentionTopics, reduceAttention } from './reduce-attention.ts';
import { hasStandingCause } from './standing-cause.ts';

/** Whether the cause of the item still exists, as far as the board can tell. */
export function causeStands(board: Board, item: AttentionItem): boolean {
  const worker = board.workers.get(workerKey(item.orchestrator ?? '', item.ticket ?? ''));
  return hasStandingCause(item, {
    needs: worker === undefined ? [] : needsOf(board, worker),
    session: board.sessions.get(item.session ?? '')?.state,
    grade: board.feeds.get(item.feed ?? '')?.grade,
  });
}

function foldAttention(context: FoldContext<AttentionLine['event']>): void {
  const { board, line } = context;
  const id = attentionIdOf(line);
  if (id === undefined) return;
  if (line.event === 'comms.attention_undone') return undo(context, id);
  const known = board.attention.get(id);
  const item = reduceAttention(known, line);
  const action = isByPerson(line) ? actions[line.event] : undefined;
  if (known !== undefined && action === 'resolve' && causeStands(board, known)) return;
  // svc raised or resolved it: what a person did with it before is history.
  if (known !== undefined && action !== undefined)
    putUndoable(board, { id, action, by: byOf(line), seq: line.seq, before: known });
  else if (known === undefined || item === undefined) board.undoable.delete(id);
  if (item === undefined) {
    board.attention.delete(id);
    return;
  }
  board.attention.set(id, item);
  if (line.event !== 'comms.attention' || isGone({ ...context, line }) || known !== undefined) return;
  const { reason, severity, message, remedy } = item;
  ask(context, id, { kind: 'notify', attention: id, reason, severity, message, remedy });
}

/** By the API, in the name of a person, or by a helper. */
function isByPerson({ source, reporter }: AttentionLine): boolean {
  return source === 'cli' || reporter !== undefined;
}

function byOf({ detail, actor }: AttentionLine): string {
  return ('by' in detail ? short(detail.by) : undefined) ?? actor?.login ?? 'unknown';
}

const actions: Readonly<Partial<Record<AttentionLine['event'], Undoable['action']>>> = {
  'comms.attention_acknowledged': 'acknowledge',
  'comms.attention_snoozed': 'snooze',
  'comms.attention_handed_over': 'hand-over',
  'comms.attention_resolved': 'resolve',
};

/** The newest is last, so the oldest are dropped first. */
function putUndoable({ undoable }: Board, last: Undoable): void {
  undoable.delete(last.id);
  undoable.set(last.id, last);
}

/** Only what the action has changed goes back: the item may have been raised again meanwhile. */
function undo({ board, line }: FoldContext<AttentionLine['event']>, id: string): void {
  const last = board.undoable.get(id);
  if (line.event !== 'comms.attention_undone' || last === undefined || last.seq !== line.detail.line) return;
  board.undoable.delete(id);
  const { before, action } = last;
  const known = board.attention.get(id);
  if (action === 'resolve') board.attention.set(id, before);
  else if (known !== undefined) board.attention.set(id, { ...known, ...fieldsOf(action, before) });
}

function fieldsOf(
  action: Exclude<Undoable['action'], 'resolve'>,
  { acknowledged, snoozedUntil, handedOver }: AttentionItem,
): Partial<AttentionItem> {
  if (action === 'acknowledge') return { acknowledged };
  return action === 'snooze' ? { snoozedUntil } : { handedOver };
}

/** The cause went away before our line was appended: resolve the item at once, without a notification. */
function isGone(context: FoldContext<'comms.attention'>): boolean {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  const { reason } = line.detail;
  if (line.source !== 'monitor') return false;
  if (orchestrator === undefined || ticket === undefined || reason === undefined) return false;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  if (worker === undefined || causeHolds(board, worker, reason) !== false) return false;
  const next = resolve(context, worker, reason);
  if (next !== worker) putWorker(board, next);
  return true;
}

/** A poll of the code host found no pull request for a worker that claims one. */
function foldUnseen(context: FoldContext<'monitor.claim.unseen'>): void {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  const worker = board.workers.get(workerKey(orchestrator ?? '', ticket ?? ''));
  if (worker === undefined || line.source !== 'monitor') return;
  const touched = { unseenSeq: line.seq, lastSeq: line.seq, lastAt: line.ts };
  putWorker(board, withOwnAttention(context, { ...worker, ...touched }));
}

export const attentionFolds: readonly Fold[] = [
  on(attentionTopics, foldAttention),
  on(['monitor.claim.unseen'], foldUnseen),
];
