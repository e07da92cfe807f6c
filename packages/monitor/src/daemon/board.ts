// The state of the daemon: the log folded into the board, its snapshots, and the outbox with the effects of lines. Every
// part reads the board; there is no other state.

import type { Logger } from 'pino';
import { boardRules } from '../features/board.ts';
import { effectKinds } from '../features/effect-kinds.ts';
import { type BoardAt, createBoardAt } from '../kernel/board/board-at.ts';
import { followState } from '../kernel/board/follow-state.ts';
import { openSnapshotStore, type SnapshotStore } from '../kernel/board/snapshot-store.ts';
import type { StateFollower } from '../kernel/board/state-follower.ts';
import type { Machine } from '../kernel/config/environment.ts';
import type { EventLog } from '../kernel/log/event-log.ts';
import { createOutboxStore, type OutboxStore, openOutboxDatabase } from '../kernel/outbox/outbox-store.ts';

export type DaemonBoard = {
  state: StateFollower;
  boardAt: BoardAt;
  outbox: OutboxStore;
  figures: () => ReturnType<StateFollower['progress']> & { snapshots: ReturnType<SnapshotStore['figures']> };
  /** Rows were accepted. */
  onEffects: (wake: () => void) => void;
  stop: () => Promise<void>;
  /** Call it after everything that uses the outbox has stopped. */
  close: () => void;
};

/** Open the log first: it sets a damaged database aside. */
export function openBoard({
  log,
  machine,
  now,
  logger,
}: {
  log: EventLog;
  machine: Pick<Machine, 'databaseFile'>;
  now: () => number;
  logger: Logger;
}): DaemonBoard {
  const outbox = createOutboxStore({
    kinds: effectKinds,
    database: openOutboxDatabase(machine.databaseFile),
    lastSeq: log.lastSeq(),
    clock: { now },
  });
  if (outbox.started === 'fresh') logger.info({ cursor: outbox.cursor() }, 'the outbox starts at this line');
  const snapshots = openSnapshotStore({ path: machine.databaseFile, form: boardRules.form });
  let wake: (() => void) | undefined;
  const state = followState({
    log,
    rules: boardRules,
    snapshots,
    outbox: {
      cursor: outbox.cursor,
      accept(effects, cursor) {
        const added = outbox.accept(effects, cursor);
        if (added > 0) wake?.();
        return added;
      },
    },
    now,
    onFailure: (error) => logger.error({ err: error }, 'the state could not be brought up to date'),
  });
  return {
    state,
    boardAt: createBoardAt({ log, snapshots, rules: boardRules, live: state.board }),
    outbox,
    figures: () => ({ ...state.progress(), snapshots: snapshots.figures() }),
    onEffects(listener) {
      wake = listener;
    },
    stop: state.stop,
    close() {
      outbox.close();
      snapshots.close();
    },
  };
}
