// Runs on the board.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import type { Run } from './run.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    runs: Run;
  }
}

const MOST_RUNS = 2_000;

export const runSlice = {
  runs: {
    keyOf: ({ orchestrator }) => orchestrator,
    clean: ({ runs }, now) =>
      dropSettled(runs, now, MOST_RUNS, ({ state }) => state !== 'running' && state !== 'paused'),
  },
} as const satisfies Partial<Slices>;
