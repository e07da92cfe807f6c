// Feeds on the board.
import { capOnly, type Slices } from '../../kernel/board/slice.ts';
import type { FeedState } from './feed-state.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    feeds: FeedState;
  }
}

const MOST_FEEDS = 500;

export const feedSlice = {
  feeds: {
    keyOf: ({ feed }) => feed,
    clean: ({ feeds }) => capOnly(feeds, MOST_FEEDS, ({ lastSeq }) => lastSeq),
  },
} as const satisfies Partial<Slices>;
