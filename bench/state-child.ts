// One task of `bench/state.ts`, in its own process.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { boardRules } from '../packages/monitor/src/features/board.ts';
import { effectKinds } from '../packages/monitor/src/features/effect-kinds.ts';
import { type BoardAtOptions, createBoardAt } from '../packages/monitor/src/kernel/board/board-at.ts';
import { foldOrSkip } from '../packages/monitor/src/kernel/board/board-rules.ts';
import { followState } from '../packages/monitor/src/kernel/board/follow-state.ts';
import { openSnapshotStore } from '../packages/monitor/src/kernel/board/snapshot-store.ts';
import { openEventLog } from '../packages/monitor/src/kernel/log/event-log.ts';
import { readEntries } from '../packages/monitor/src/kernel/log/read-lines.ts';
import { createOutboxStore, openOutboxDatabase } from '../packages/monitor/src/kernel/outbox/outbox-store.ts';
import { rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { answerOrders } from './child.ts';

export type StateOrder = {
  task: 'fold' | 'prepare' | 'without' | 'stopped' | 'killed';
  folder: string;
  lines: number;
  from: number;
  to: number;
  seed: number;
  moments?: number;
};

export type StateFigures = {
  fold: Figures<typeof fold>;
  prepare: Figures<typeof prepare>;
  cold: Figures<typeof startCold>;
};
type Figures<Task extends (...given: never[]) => Promise<object>> = Awaited<ReturnType<Task>>;

let order: StateOrder;
let eventsFolder = '';
let databaseFile = '';
const hold = monitorEventLoopDelay({ resolution: 1 });
const clock = { now: () => Date.now() };

answerOrders(async (given: StateOrder) => {
  order = given;
  eventsFolder = join(order.folder, 'events');
  databaseFile = join(order.folder, 'svc.db');
  if (order.task === 'fold') return fold();
  return order.task === 'prepare' ? prepare() : startCold(order.task);
});

async function fold() {
  const read: number[] = [];
  const folded: number[] = [];
  let board = boardRules.emptyBoard();
  for (let round = 0; round < 2; round += 1) {
    let before = performance.now();
    for await (const entries of readEntries({ folder: eventsFolder })) entries.at(-1);
    read.push(performance.now() - before);
    board = boardRules.emptyBoard();
    before = performance.now();
    for await (const entries of readEntries({ folder: eventsFolder })) {
      for (const { line } of entries) foldOrSkip(boardRules, board, line, fail);
    }
    folded.push(performance.now() - before);
  }
  const entities = Object.fromEntries(
    Object.entries(board).flatMap(([name, value]) => (value instanceof Map ? [[name, value.size]] : [])),
  );
  return { readMs: Math.min(...read), foldMs: Math.min(...folded), entities };
}

/** Everything that a daemon derives from the log, with its outbox from the first line on. */
function open(outboxFrom?: number) {
  const log = openEventLog({
    eventsFolder,
    databaseFile,
    clock,
    host: { id: 'bench', name: 'bench' },
    newId: () => crypto.randomUUID(),
  });
  const database = openOutboxDatabase(databaseFile);
  const outbox = createOutboxStore({
    kinds: effectKinds,
    database,
    lastSeq: outboxFrom ?? log.lastSeq(),
    clock,
  });
  const snapshots = openSnapshotStore({ path: databaseFile, form: boardRules.form });
  async function close(): Promise<void> {
    snapshots.close();
    outbox.close();
    await log.close();
  }
  return { log, outbox, snapshots, close };
}

async function prepare() {
  const started = performance.now();
  const { log, outbox, snapshots, close } = open(0);
  const indexed = log.ready.then(() => performance.now() - started);
  const state = followState({
    log,
    outbox,
    snapshots,
    rules: boardRules,
    now: clock.now,
    onFailure: fail,
  });
  hold.enable();
  await state.ready;
  const readyMs = performance.now() - started;
  await state.stop();
  const indexMs = await indexed;
  const effects = outbox.counts().pending;
  const all = snapshots.figures();
  const newest = snapshots.newest({ seq: order.lines });
  if (newest !== null) snapshots.remove(newest.seq);
  const newestBytes = all.bytes - snapshots.figures().bytes;
  if (newest !== null) await snapshots.save(newest, boardRules.packBoard(state.board()));
  await close();
  return { readyMs, indexMs, effects, holdMs: Math.round(hold.max / 1e6), snapshots: all, newestBytes };
}

async function startCold(task: 'without' | 'stopped' | 'killed') {
  if (task === 'killed') forgetNewest();
  const before = performance.now();
  const { log, outbox, snapshots, close } = open();
  const none = { ...snapshots, newest: () => null, save: () => Promise.resolve() };
  const state = followState({
    log,
    outbox,
    snapshots: task === 'without' ? none : { ...snapshots, save: () => Promise.resolve() },
    rules: boardRules,
    now: clock.now,
    onFailure: fail,
  });
  await state.ready;
  const readyMs = performance.now() - before;
  const foldedLines =
    order.lines - (task === 'without' ? 0 : (snapshots.newest({ seq: order.lines })?.seq ?? 0));
  const startRss = rssMegabytes(process.pid);
  hold.enable();
  const momentsMs =
    task === 'without' ? [] : await readPast({ log, snapshots, rules: boardRules, live: state.board });
  const figures = {
    readyMs,
    foldedLines,
    momentsMs,
    holdMs: Math.round(hold.max / 1e6),
    startRss,
    endRss: rssMegabytes(process.pid),
    mostRss: mostRssMegabytes(),
  };
  await state.stop();
  await close();
  return figures;
}

/** The worst case after a kill: a whole step since the last snapshot. */
function forgetNewest(): void {
  const snapshots = openSnapshotStore({ path: databaseFile, form: boardRules.form });
  const newest = snapshots.newest({ seq: order.lines });
  if (newest !== null) snapshots.remove(newest.seq);
  snapshots.close();
}

async function readPast(given: BoardAtOptions): Promise<number[]> {
  const boardAt = createBoardAt(given);
  const random = createRandom(order.seed + (order.task === 'killed' ? 1 : 0));
  const times: number[] = [];
  for (let index = 0; index < (order.moments ?? 0); index += 1) {
    const share = random.next();
    const moment =
      index % 2 === 0
        ? { seq: Math.floor(share * order.lines) }
        : { time: order.from + Math.floor(share * (order.to - order.from)) };
    const before = performance.now();
    await boardAt(moment);
    times.push(performance.now() - before);
  }
  return times;
}

function mostRssMegabytes(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
}

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
