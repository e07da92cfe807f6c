// Sessions on the board.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import type { Session } from './session.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** Agents that people start themselves, by `<agent>/<session id>`. */
    sessions: Session;
  }
}

const MOST_SESSIONS = 2_000;

export const sessionSlice = {
  sessions: {
    keyOf: ({ key }) => key,
    clean: ({ sessions }, now) =>
      dropSettled(sessions, now, MOST_SESSIONS, ({ state }) => state === 'ended' || state === 'unknown'),
  },
} as const satisfies Partial<Slices>;
