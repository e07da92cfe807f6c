// The database of a follower on disk, with the real outbox, opened and closed as by a daemon.

import { messageOf } from '@svc/lib/errors';
import { effectKinds } from '../../../features/effect-kinds.ts';
import { type Database, openDatabase } from '../../disk/sqlite.ts';
import type { EventLine } from '../../log/event-line.ts';
import { createOutboxStore, openOutboxDatabase } from '../../outbox/outbox-store.ts';
import type { Board } from '../board.ts';

import { followState } from '../follow-state.ts';
import { createSnapshotStore, snapshotVersion, stateMigrations } from '../snapshot-store.ts';
import type { StateOptions } from '../state-follower.ts';
import { smallRules } from './small-rules.ts';

export type StateFiles = ReturnType<typeof openStateFiles>;

/** `wrap` is applied to the connections of the stores. */
export function openStateFiles({
  file,
  lastSeq = 0,
  version = snapshotVersion(smallRules.form),
  widest,
  wrap = (database) => database,
}: {
  file: string;
  lastSeq?: number;
  version?: string;
  widest?: number;
  wrap?: (database: Database) => Database;
}) {
  const connections = [
    openDatabase(file, { area: 'state', migrations: stateMigrations }),
    openOutboxDatabase(file),
  ] as const;
  const outbox = createOutboxStore({
    kinds: effectKinds,
    database: wrap(connections[1]),
    lastSeq,
    clock: { now: () => 0 },
  });
  const snapshots = createSnapshotStore({
    database: wrap(connections[0]),
    version,
    ...(widest !== undefined && { widest }),
  });
  return {
    outbox,
    snapshots,
    keys: () =>
      outbox
        .list({ limit: 1_000 })
        .map(({ key }) => key)
        .toReversed(),
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

export function follow(files: StateFiles, options: Pick<StateOptions, 'log'> & Partial<StateOptions>) {
  const failures: string[] = [];
  const follower = followState({
    snapshots: files.snapshots,
    outbox: files.outbox,
    now: () => 0,
    onFailure: (error) => failures.push(messageOf(error)),
    rules: smallRules,
    retryMs: () => 1,
    ...options,
  });
  return Object.assign(follower, { failures });
}

/** The expected result, found the simple way. */
export function foldAll(lines: readonly EventLine[]): { board: Board; keys: string[] } {
  const board = smallRules.emptyBoard();
  const keys: string[] = [];
  for (const line of lines) {
    if (line.detail['broken'] === true) continue;
    keys.push(...smallRules.foldLine(board, line).map(({ key }) => key));
  }
  return { board, keys };
}
