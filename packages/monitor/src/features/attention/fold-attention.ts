// Events of attention items: raised and resolved by svc, acted on by people. An item whose cause can be seen on the board
// stays open as long as the cause exists: only svc resolves it. What a person did last can be undone.

import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import type { AttentionItem, Undoable } from './attention-item.ts';
import { type AttentionLine, attentionIdOf, attentionTopics, reduceAttention } from './reduce-attention.ts';

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** Whether the cause of the item still exists, as far as the board can tell. */
    causeStands: (board: Board, item: AttentionItem) => boolean;
    /** Resolves the item of the line at once if its cause went away before the line was appended. */
    withdraw: (context: FoldContext<'comms.attention'>) => boolean;
  }
}

function foldAttention(context: FoldContext<AttentionLine['event']>): void {
  const { board, line, steps } = context;
  const id = attentionIdOf(line);
  if (id === undefined) return;
  if (line.event === 'comms.attention_undone') return undo(context, id);
  const known = board.attention.get(id);
  const item = reduceAttention(known, line);
  const action = isByPerson(line) ? actions[line.event] : undefined;
  if (known !== undefined && action === 'resolve' && steps.causeStands(board, known)) return;
  // svc raised or resolved it: what a person did with it before is history.
  if (known !== undefined && action !== undefined)
    putUndoable(board, { id, action, by: byOf(line), seq: line.seq, before: known });
  else if (known === undefined || item === undefined) board.undoable.delete(id);
  if (item === undefined) {
    board.attention.delete(id);
    return;
  }
  board.attention.set(id, item);
  if (line.event !== 'comms.attention' || steps.withdraw({ ...context, line }) || known !== undefined) return;
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

export const attentionFolds: readonly Fold[] = [on(attentionTopics, foldAttention)];
