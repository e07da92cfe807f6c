// Attention items on the board.
import { capOnly, type Slices } from '../../kernel/board/slice.ts';
import type { AttentionItem, Undoable } from './attention-item.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    attention: AttentionItem;
    /** By the id of the attention item: what a person did with it last, and the item before. */
    undoable: Undoable;
  }
}

const MOST_ITEMS = 5_000;
const MOST_UNDOABLE = 500;

export const attentionSlices = {
  attention: {
    keyOf: ({ id }) => id,
    clean: ({ attention }) => capOnly(attention, MOST_ITEMS, ({ openedSeq }) => openedSeq),
  },
  undoable: {
    keyOf: ({ id }) => id,
    clean: ({ undoable }) => capOnly(undoable, MOST_UNDOABLE, ({ seq }) => seq),
  },
} as const satisfies Partial<Slices>;
