// One process of chaos/outbox.ts: a real event log, a fold and the real outbox. It kills itself with -9 at the given
// point; otherwise it ends when every effect is settled.
// node outbox-child.ts '<JSON of ChildOrders>'. It prints a line for each line that it wrote.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@svc/lib/clock';
import { effectKinds } from '../packages/monitor/src/features/effect-kinds.ts';
import { writeFileAtomically } from '../packages/monitor/src/kernel/disk/atomic-write.ts';
import type { Database } from '../packages/monitor/src/kernel/disk/sqlite.ts';
import { openEventLog } from '../packages/monitor/src/kernel/log/event-log.ts';
import type { Handlers, Outcome } from '../packages/monitor/src/kernel/outbox/attempt.ts';
import type { Effect } from '../packages/monitor/src/kernel/outbox/effect.ts';
import {
  createOutboxStore,
  type OutboxStore,
  openOutboxDatabase,
} from '../packages/monitor/src/kernel/outbox/outbox-store.ts';

import { createOutboxRunner } from '../packages/monitor/src/kernel/outbox/runner.ts';
import {
  appendDelivery,
  foldChaosLine,
  gaveUpDraft,
  inputDraft,
  type KillPoint,
  newBoard,
  type PlannedKill,
} from './outbox-fold.ts';

/** A wrong order or a missing check that the verdict has to notice. */
export type Sabotage = 'cursor-first' | 'finish-first' | 'not-idempotent' | 'sent-first';
export type ChildOrders = {
  folder: string;
  tracker: string;
  inputs: number;
  kill: PlannedKill | null;
  sabotage: Sabotage | null;
};

const orders = JSON.parse(process.argv[2] ?? '{}') as ChildOrders;
const { folder, sabotage } = orders;
const blind = sabotage === 'not-idempotent';
/** A rejected effect is retried when all lines of this process are written: others of its ticket must not be first. */
const RETRY_MS = 10_000;
const clock = { ...systemClock, now: () => Date.now() + ahead };
let ahead = 0;
let passed = 0;
let accepting = false;

function pass(point: KillPoint): void {
  if (orders.kill?.point !== point) return;
  passed += 1;
  if (passed < orders.kill.nth) return;
  process.kill(process.pid, 'SIGKILL');
  // Not one more instruction may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const log = openEventLog({
  eventsFolder: join(folder, 'events'),
  databaseFile: join(folder, 'svc.db'),
  clock: { now: () => Date.now() },
  host: { id: 'chaos', name: 'chaos' },
  newId: () => crypto.randomUUID(),
});
const database = openOutboxDatabase(join(folder, 'svc.db'));
const store = withKillPoints(
  createOutboxStore({
    kinds: effectKinds,
    database: killedBeforeCommit(database),
    lastSeq: log.lastSeq(),
    clock,
  }),
);
const board = newBoard();
const runner = createOutboxRunner({
  store,
  clock,
  random: Math.random,
  handlers: handlers(),
  async onGaveUp({ key }, error) {
    if (sabotage === 'sent-first') store.sent(key);
    else await log.appendOnce(gaveUpDraft(key, error));
    pass('after-attention');
    if (sabotage === 'sent-first') await log.appendOnce(gaveUpDraft(key, error));
  },
  waitMs: () => RETRY_MS,
});
pass('while-starting');
await log.ready;
runner.start();
const following = new AbortController();
const follower = follow();
while (board.seq < log.lastSeq()) await sleep(1);
const first = board.inputs + 1;
for (let number = first; number < first + orders.inputs; number += 1) {
  const { seq } = await log.appendOnce(inputDraft(number));
  pass('after-log-append');
  process.stdout.write('wrote a line\n');
  // Some lines are folded alone, some together with later ones.
  if (number % 3 > 0) while (board.seq < seq) await sleep(0);
}
for (; !isSettled(); await sleep(2)) {
  const next = store.nextDueAfter(clock.now());
  if (next === null || board.seq < log.lastSeq()) continue;
  ahead += next - clock.now();
  runner.wake();
}
following.abort();
await follower;
await runner.stop();
database.close();
await log.close();

async function follow(): Promise<void> {
  const beyond = store.cursor();
  const lines = log.subscribe({ after: 0, signal: following.signal, whenSlow: 'read-file' });
  for await (const batch of lines) {
    // Lines before the cursor are already in the outbox: folded only for the state.
    const effects: Effect[] = [];
    for (const { line } of batch) {
      const asked = foldChaosLine(board, line);
      if (line.seq > beyond) effects.push(...asked);
    }
    if (board.seq <= beyond) continue;
    store.accept(effects, board.seq);
    runner.wake();
  }
}

function isSettled(): boolean {
  const { pending, unsent } = store.counts();
  return pending === 0 && unsent === 0 && store.cursor() === log.lastSeq();
}

function handlers(): Handlers {
  return {
    'write-signal': (effect) => around(effect, () => writeSignal(effect)),
    'move-ticket': (effect) =>
      around(effect, async () => {
        const { key, ticket, phase } = effect;
        const body = JSON.stringify({ key, phase, add: blind });
        const response = await fetch(`${orders.tracker}/${ticket}`, { method: 'PUT', body });
        if (response.status === 404) return { failed: 'the tracker has no such ticket', permanent: true };
        return response.ok ? { done: 'moved' } : { failed: `the tracker answered ${response.status}` };
      }),
    append: (effect) =>
      around(effect, async () => {
        const draft = { ...effect.draft, deliveryId: appendDelivery(effect.key) };
        if (blind) await log.append(draft);
        else await log.appendOnce(draft);
        return { done: 'appended' };
      }),
  };
}

async function around(effect: Effect, work: () => Promise<Outcome>): Promise<Outcome> {
  if (sabotage === 'finish-first') store.finish(effect.key, 'sure');
  pass('before-handler');
  const outcome = await work();
  if ('done' in outcome) pass('after-effect');
  return outcome;
}

/** A read-modify-write that does nothing if the file already has the value. */
async function writeSignal(effect: Extract<Effect, { kind: 'write-signal' }>): Promise<Outcome> {
  const path = join(folder, `signal-${effect.orchestrator}-${effect.ticket}.json`);
  const file = readSignal(path);
  if (file.deploymentId === effect.deploy?.deploymentId && !blind) return { done: 'already' };
  const history = [...file.history, effect.key];
  await writeFileAtomically(path, JSON.stringify({ deploymentId: effect.deploy?.deploymentId, history }));
  return { done: 'written' };
}

function readSignal(path: string): { deploymentId?: number | null; history: string[] } {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { history: [] };
    throw error;
  }
}

/** The store, with a point before and after each of its steps. */
function withKillPoints(real: OutboxStore): OutboxStore {
  return {
    ...real,
    accept(effects, cursor) {
      if (effects.length === 0) return real.accept(effects, cursor);
      pass('before-accept');
      if (sabotage === 'cursor-first') {
        real.accept([], cursor);
        pass('inside-accept');
      }
      accepting = true;
      const added = real.accept(effects, cursor);
      accepting = false;
      pass('after-accept');
      return added;
    },
    finish(key, outcome) {
      pass('before-finish');
      real.finish(key, outcome);
      pass('after-finish');
    },
    retry(key, error, nextAt) {
      real.retry(key, error, nextAt);
      pass('after-retry');
    },
    giveUp(key, error) {
      pass('before-give-up');
      database.transaction(() => {
        real.giveUp(key, error);
        pass('inside-give-up');
      });
      pass('after-give-up');
    },
    sent(key) {
      real.sent(key);
      pass('after-sent');
    },
  };
}

/** A database that can be killed when an `accept` is completely written and not committed. */
function killedBeforeCommit(real: Database): Database {
  return {
    ...real,
    transaction: (work) =>
      real.transaction(() => {
        const result = work();
        if (accepting) pass('inside-accept');
        return result;
      }),
  };
}
