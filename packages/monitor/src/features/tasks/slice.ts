// Tasks on the board.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import type { Task } from './task.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** Tasks that people described, by their key. */
    tasks: Task;
  }

  interface Counters {
    /** How many local tickets there have ever been: the number of the newest. */
    localTickets: number;
  }
}

const MOST_TASKS = 2_000;

export const taskSlice = {
  tasks: {
    keyOf: ({ key }) => key,
    // The text of a local ticket stays as long as the ticket.
    clean: ({ tasks, tickets }, now) =>
      dropSettled(
        tasks,
        now,
        MOST_TASKS,
        ({ state, local, ticket }) =>
          (state === 'started' || state === 'refused') && !(local && tickets.has(ticket ?? '')),
      ),
  },
} as const satisfies Partial<Slices>;
