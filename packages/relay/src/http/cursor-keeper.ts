// Cursors of named subscribers. Each is saved at most once a second while it moves, and when its stream ends.
// A failed save is retried: a cursor that is too old only causes repetitions.
import type { Engine, Position } from '../engine/engine.ts';
import { channelInLogs, type Logger } from './relay-parts.ts';

const EVERY_MS = 1_000;

export type Cursor = {
  channel: string;
  subscriber: string;
  /** How far the reader has read, as far as the relay knows. */
  at: Position | null;
  saved: Position | null;
};

export type CursorKeeper = {
  /** Saves where a new name starts. */
  begin: (cursor: Cursor) => void;
  moved: (cursor: Cursor) => void;
  /** Saves it for the last time. */
  release: (cursor: Cursor) => void;
  /** Another stream of the same name has taken it over: it is no longer saved. */
  drop: (cursor: Cursor) => void;
  /** Resolves when every running save has ended. */
  settle: () => Promise<void>;
};

export function createCursorKeeper({ engine, logger }: { engine: Engine; logger: Logger }): CursorKeeper {
  const moving = new Set<Cursor>();
  const saving = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  function save(cursor: Cursor): void {
    const { at } = cursor;
    if (at === null || at === cursor.saved) return;
    const before = cursor.saved;
    cursor.saved = at;
    const done = engine.saveCursor(cursor.channel, cursor.subscriber, at).catch((error: unknown) => {
      logger.warn(
        { channel: channelInLogs(cursor.channel), why: String(error) },
        'a cursor could not be saved',
      );
      if (cursor.saved === at) cursor.saved = before;
    });
    const tracked = done.finally(() => saving.delete(tracked));
    saving.add(tracked);
  }

  function tick(): void {
    for (const cursor of moving) {
      if (cursor.at === cursor.saved) moving.delete(cursor);
      else save(cursor);
    }
    if (moving.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin: save,
    moved(cursor) {
      moving.add(cursor);
      timer ??= setInterval(tick, EVERY_MS).unref();
    },
    release(cursor) {
      moving.delete(cursor);
      save(cursor);
    },
    drop: (cursor) => void moving.delete(cursor),
    async settle() {
      await Promise.all(saving);
    },
  };
}
