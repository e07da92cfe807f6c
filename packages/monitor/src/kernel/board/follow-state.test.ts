import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Ticket } from '../../features/tracker/ticket.ts';
import type { Database } from '../disk/sqlite.ts';
import type { Board } from './board.ts';
import { type FoldLine } from './board-rules.ts';
import type { StateChange } from './state-follower.ts';
import { createSmallLog, type SmallLine, smallLines } from './testing/small-log.ts';
import { smallRules } from './testing/small-rules.ts';
import { foldAll, follow, openStateFiles } from './testing/state-files.ts';

function someLines(count: number, prefix?: string) {
  const lines = Array.from(
    { length: count },
    (_, index): SmallLine => ({ ticket: `A-${index % 7}`, ask: index % 3 }),
  );
  return smallLines(lines, prefix);
}

function openFiles(options: Partial<Parameters<typeof openStateFiles>[0]> = {}) {
  const files = openStateFiles({ file: join(temporaryFolder(), 'svc.db'), ...options });
  onTestFinished(() => files.close());
  return files;
}

test('folds existing and new lines, and passes on each effect', async () => {
  const lines = someLines(500);
  const log = createSmallLog(lines.slice(0, 300));
  const files = openFiles();
  const state = follow(files, { log, snapshotEvery: 100 });
  await state.ready;
  expect(state.board()).toEqual(foldAll(lines.slice(0, 300)).board);
  const changes: StateChange[] = [];
  state.onChange((change) => changes.push(change));
  const reached = state.reached(500);
  log.append(lines.slice(300));
  await reached;
  const { board, keys } = foldAll(lines);
  expect(state.board()).toEqual(board);
  expect(files.keys()).toEqual(keys);
  await expect.poll(() => changes.flatMap((change) => change.lines)).toEqual(lines.slice(300));
  expect(state.progress()).toMatchObject({ seq: 500, logSeq: 500, ready: true, backlog: 0, degraded: null });
  await state.stop();
  expect(files.outbox.cursor()).toBe(500);
  expect(files.snapshots.newest({ seq: 1_000 })?.seq).toBe(500);
  expect(state.failures).toEqual([]);
});

test('starts at the newest snapshot and not at the first line', async () => {
  const lines = someLines(600);
  const files = openFiles();
  const first = follow(files, { log: createSmallLog(lines.slice(0, 400)), snapshotEvery: 100 });
  await first.ready;
  await first.stop();
  const foldLine = vi.fn<FoldLine>(smallRules.foldLine);
  const second = follow(files, { log: createSmallLog(lines), rules: { ...smallRules, foldLine } });
  await second.ready;
  expect(foldLine.mock.calls[0]?.[1].seq).toBe(401);
  expect(second.board()).toEqual(foldAll(lines).board);
  expect(files.keys()).toEqual(foldAll(lines).keys);
  await second.stop();
});

test('never starts after the cursor of the outbox', async () => {
  const lines = someLines(300);
  const ahead = openFiles();
  const first = follow(ahead, { log: createSmallLog(lines), snapshotEvery: 100 });
  await first.ready;
  await first.stop();
  // The same snapshots with an outbox that has less: what it lacks is derived again.
  const behind = openFiles();
  behind.outbox.accept([], 120);
  const second = follow(behind, { log: createSmallLog(lines), snapshots: ahead.snapshots });
  await second.ready;
  expect(second.board()).toEqual(foldAll(lines).board);
  const had = new Set(foldAll(lines.slice(0, 120)).keys);
  expect(behind.keys()).toEqual(foldAll(lines).keys.filter((key) => !had.has(key)));
  await second.stop();
});

test('a snapshot of another log is refused, wherever that log ends', async () => {
  const lines = someLines(300);
  for (const other of [someLines(300, 'other'), someLines(500, 'other'), someLines(50, 'other')]) {
    const files = openFiles();
    const first = follow(files, { log: createSmallLog(lines), snapshotEvery: 100 });
    await first.ready;
    await first.stop();
    const second = follow(files, { log: createSmallLog(other) });
    await second.ready;
    expect(second.board()).toEqual(foldAll(other).board);
    expect(files.snapshots.newest({ seq: 1_000 })).toBeNull();
    await second.stop();
  }
});

test('a log that was cut starts from a snapshot before the cut', async () => {
  const lines = someLines(300);
  const files = openFiles();
  const first = follow(files, { log: createSmallLog(lines), snapshotEvery: 40 });
  await first.ready;
  await first.stop();
  const cut = [...lines.slice(0, 256), ...someLines(300, 'new').slice(256)];
  const foldLine = vi.fn<FoldLine>(smallRules.foldLine);
  const second = follow(files, { log: createSmallLog(cut), rules: { ...smallRules, foldLine } });
  await second.ready;
  expect(second.board()).toEqual(foldAll(cut).board);
  expect(foldLine.mock.calls[0]?.[1].seq).toBe(257);
  await second.stop();
});

test('a snapshot of an older version is not used', async () => {
  const file = join(temporaryFolder(), 'svc.db');
  const lines = someLines(300);
  const old = openFiles({ file, version: '1' });
  const first = follow(old, { log: createSmallLog(lines), snapshotEvery: 100 });
  await first.ready;
  await first.stop();
  const files = openFiles({ file, version: '2', lastSeq: 300 });
  const foldLine = vi.fn<FoldLine>(smallRules.foldLine);
  const second = follow(files, { log: createSmallLog(lines), rules: { ...smallRules, foldLine } });
  await second.ready;
  expect(foldLine).toHaveBeenCalledTimes(300);
  expect(second.board()).toEqual(foldAll(lines).board);
  expect(files.keys()).toEqual(foldAll(lines).keys);
  await second.stop();
});

/** A disk that can be full: then no transaction and no writing statement succeeds. */
function fillableDisk() {
  const disk = { full: false };
  const check = (): void => {
    if (disk.full) throw new Error('database or disk is full');
  };
  const wrap = (database: Database): Database => ({
    ...database,
    prepare(sql) {
      const statement = database.prepare(sql);
      const run = statement.run.bind(statement);
      return Object.assign(statement, {
        run(...values: Parameters<typeof run>) {
          check();
          return run(...values);
        },
      });
    },
    transaction(work) {
      check();
      return database.transaction(work);
    },
  });
  return { disk, wrap };
}

test('a full disk degrades it, stops nothing and loses nothing', async () => {
  const lines = someLines(400);
  const log = createSmallLog(lines.slice(0, 100));
  const { disk, wrap } = fillableDisk();
  const files = openFiles({ wrap });
  let minute = 0;
  const state = follow(files, { log, snapshotEvery: 50, now: () => minute * 60_000 });
  await state.ready;
  disk.full = true;
  log.append(lines.slice(100, 300));
  await state.reached(300);
  expect(state.board()).toEqual(foldAll(lines.slice(0, 300)).board);
  expect(state.progress()).toMatchObject({ seq: 300, degraded: 'database or disk is full' });
  expect(state.progress().backlog).toBeGreaterThan(100);
  await until(() => state.failures.length === 2);
  disk.full = false;
  // A snapshot needs the effects of its lines in the outbox, and is tried again with the next lines.
  await expect.poll(() => state.progress().backlog).toBe(0);
  minute = 2;
  log.append(lines.slice(300));
  await state.reached(400);
  await expect.poll(() => state.progress()).toMatchObject({ backlog: 0, degraded: null });
  expect(files.keys()).toEqual(foldAll(lines).keys);
  // Once by the outbox and once by the snapshots, however often they tried.
  expect(state.failures).toEqual(['database or disk is full', 'database or disk is full']);
  await state.stop();
});

test('folding waits when too many effects wait for the outbox', async () => {
  const lines = someLines(3_000);
  const { disk, wrap } = fillableDisk();
  const files = openFiles({ wrap });
  const log = createSmallLog([]);
  let tries = 0;
  const retryMs = (): number => {
    tries += 1;
    return 1;
  };
  const state = follow(files, { log, mostWaiting: 100, retryMs });
  await state.ready;
  disk.full = true;
  log.append(lines);
  await state.reached(200);
  // Each attempt has its own turn of the event loop: enough of them to fold everything, if it continued.
  const before = tries;
  await until(() => tries > before + 50);
  const { seq, backlog } = state.progress();
  expect(seq).toBeLessThan(1_000);
  expect(backlog).toBeLessThan(1_000);
  disk.full = false;
  await state.reached(3_000);
  await expect.poll(() => state.progress().backlog).toBe(0);
  expect(files.outbox.counts().pending).toBe(foldAll(lines).keys.length);
  expect(state.board()).toEqual(foldAll(lines).board);
  await state.stop();
});

test('stopped with a full disk it ends, and the next start passes on what was missing', async () => {
  const lines = someLines(300);
  const { disk, wrap } = fillableDisk();
  const file = join(temporaryFolder(), 'svc.db');
  const files = openFiles({ file, wrap });
  const log = createSmallLog(lines.slice(0, 100));
  const first = follow(files, { log });
  await first.ready;
  disk.full = true;
  log.append(lines.slice(100));
  await first.reached(300);
  await first.stop();
  const again = openFiles({ file, lastSeq: 300 });
  const second = follow(again, { log });
  await second.ready;
  expect(again.keys()).toEqual(foldAll(lines).keys);
  await second.stop();
});

test('a line on which a rule throws is reported and left out', async () => {
  const lines = smallLines([
    { ticket: 'A-1', ask: 1 },
    { ticket: 'A-1', broken: true },
    { ticket: 'A-1', ask: 1 },
  ]);
  const files = openFiles();
  const state = follow(files, { log: createSmallLog(lines) });
  await state.ready;
  expect(state.board()).toEqual(foldAll(lines).board);
  expect(state.progress()).toMatchObject({ seq: 3, brokenLines: 1, degraded: null });
  expect(state.failures).toEqual(['Line 2 (codehost.push) cannot be folded']);
  await state.stop();
});

test('an unreadable log is read again', async () => {
  const lines = someLines(20);
  const log = createSmallLog(lines);
  let failing = true;
  const files = openFiles();
  const state = follow(files, {
    log: {
      lastSeq: log.lastSeq,
      subscribe(options) {
        if (failing) throw new Error('EIO');
        return log.subscribe(options);
      },
    },
  });
  await expect.poll(() => state.progress()).toMatchObject({ degraded: 'EIO', ready: false });
  failing = false;
  await state.ready;
  expect(state.progress().degraded).toBeNull();
  expect(state.board()).toEqual(foldAll(lines).board);
  await state.stop();
});

test('callers that wait when it is stopped get a rejection', async () => {
  const files = openFiles();
  const state = follow(files, { log: createSmallLog(someLines(3)) });
  await state.ready;
  const waiting = state.reached(4);
  const stopping = state.stop();
  await expect(waiting).rejects.toThrow('follower has stopped');
  await stopping;
  await expect(state.reached(3)).resolves.toBeUndefined();
});

test('the event loop is not blocked while a large board is packed', async () => {
  const lines = smallLines(Array.from({ length: 30_000 }, (_, index) => ({ ticket: `A-${index}` })));
  const files = openFiles();
  let written = 0;
  const counted = (ticket: Ticket) => ({
    toJSON() {
      written += 1;
      return ticket;
    },
  });
  const packBoard = (board: Board) => {
    const packed = smallRules.packBoard(board);
    return { ...packed, tickets: packed.tickets.map(counted) };
  };
  const rules = { ...smallRules, packBoard };
  const state = follow(files, { log: createSmallLog(lines), rules, snapshotEvery: 29_000 });
  let mostInOneTurn = 0;
  const stopped = new AbortController();
  const watching = (async () => {
    for (let before = written; !stopped.signal.aborted; before = written) {
      await nextTurn();
      mostInOneTurn = Math.max(mostInOneTurn, written - before);
    }
  })();
  await state.ready;
  await state.stop();
  stopped.abort();
  await watching;
  expect(files.snapshots.newest({ seq: 30_000 })?.seq).toBeGreaterThan(29_000);
  expect(written).toBeGreaterThan(29_000);
  // They are some hundred, and a piece or two may be ready in the same turn.
  expect(mostInOneTurn).toBeLessThan(3_000);
});
