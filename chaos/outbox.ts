// A process with a real event log and the real outbox is repeatedly killed with -9 at each step between a line of the
// log, the row in the outbox and the effect outside. After a last undisturbed process every effect that the log
// requested must exist once, in order, and nothing else.
// `npm run chaos:outbox` (200 kills); with `-- --power-cuts 100` its disk loses its power instead, and with it
// everything that was not synced (power-cut.ts); `-- --sabotage` also runs four broken ways of doing it, and disks that
// do not sync, which the verdict has to notice; `-- --seed 2` makes other choices.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { effectKinds } from '../packages/monitor/src/features/effect-kinds.ts';
import type { EventLine } from '../packages/monitor/src/kernel/log/event-line.ts';
import type { Effect } from '../packages/monitor/src/kernel/outbox/effect.ts';
import { createOutboxStore, openOutboxDatabase } from '../packages/monitor/src/kernel/outbox/outbox-store.ts';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeCounts,
  endOf,
  endWithScript,
  listen,
  logLines,
  scriptFolder,
  scriptOptions,
} from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import type { ChildOrders, Sabotage } from './outbox-child.ts';
import {
  appendDelivery,
  foldChaosLine,
  gaveUpDelivery,
  isUnknownTicket,
  type KillPoint,
  killPoints,
  newBoard,
  type PlannedKill,
  planKills,
} from './outbox-fold.ts';
import { mountPowerCutDisk, type PowerCutDisk, type PowerCutOptions } from './power-cut.ts';
import { scenario, unless } from './scenario.ts';

const options = scriptOptions({
  kills: 200,
  /** Instead of the kills. */
  'power-cuts': 0,
  inputs: 15,
  'last-inputs': 60,
  seed: 1,
  sabotage: false,
});
/** A process may end before it reaches its point: then another is tried, at the first passage. */
const TRIES = 5;
const SABOTAGE_KILLS = 4;
/** The tracker rejects every n-th new effect once. */
const REFUSE_EVERY = 6;
const sabotages: Record<Sabotage, { points: KillPoint[]; expected: RegExp }> = {
  'cursor-first': { points: ['inside-accept'], expected: /missing [1-9]/ },
  'finish-first': { points: ['before-handler'], expected: /missing [1-9]/ },
  'not-idempotent': { points: ['after-effect', 'before-finish'], expected: /doubled [1-9]/ },
  'sent-first': { points: ['after-attention'], expected: /missing [1-9]/ },
};

type Sync = NonNullable<PowerCutOptions['sync']>;
/** Disks that only pretend to sync. */
const badDisks: readonly Sync[] = ['nothing', 'files'];
const isPowerCut = options['power-cuts'] > 0;
const wanted = isPowerCut ? options['power-cuts'] : options.kills;
const unit = isPowerCut ? 'power cuts' : 'kills';

const random = createRandom(options.seed);
const script = await bundleProcess('chaos/outbox-child.ts');
const title = `${wanted} ${unit} over ${killPoints.length} points, ${options.inputs} lines for each process, ${options['last-inputs']} for the last, seed ${options.seed}`;

await play({ title, plan: planKills(wanted, random), sync: isPowerCut ? 'everything' : null });
if (options.sabotage) {
  for (const [sabotage, { points, expected }] of Object.entries(sabotages))
    await play({
      title: `sabotage ${sabotage}`,
      plan: planKills(SABOTAGE_KILLS, random, points),
      sabotage: sabotage as Sabotage,
      broken: { what: sabotage, wanted: expected },
    });
  for (const sync of isPowerCut ? badDisks : [])
    await play({
      title: `a sync saves ${sync}`,
      plan: planKills(wanted, random),
      sync,
      broken: { what: `a sync saves ${sync}`, wanted: /facts are lost/ },
    });
}

/** `sync`: what a sync saves on a disk with power cuts; null is a disk that keeps everything. */
async function play(given: {
  title: string;
  plan: readonly PlannedKill[];
  sabotage?: Sabotage;
  sync?: Sync | null;
  broken?: { what: string; wanted: RegExp };
}): Promise<void> {
  const { title: of, plan, sabotage = null, sync = null, broken = false } = given;
  const folder = scriptFolder('chaos-outbox');
  const disk = sync === null ? undefined : await mountDisk(folder, sync);
  const tracker = await startChaosTracker();
  const killed = new Map<KillPoint, number>();
  /** Facts that a process reported as written. */
  let written = 0;
  await scenario({
    title: of,
    world: {
      async close() {
        await tracker.close();
        await disk?.unmount();
      },
    },
    async load() {
      const orders = { folder, tracker: tracker.url, inputs: options.inputs, sabotage };
      for (const kill of plan) {
        written += await liveUntilKilled({ ...orders, kill }, disk);
        killed.set(kill.point, (killed.get(kill.point) ?? 0) + 1);
      }
      const last = await live({ ...orders, inputs: options['last-inputs'], kill: null }, disk);
      if (last.ending !== 0) throw new Error(`the last process ended with ${last.ending}`);
      written += last.written;
    },
    verdict(seconds) {
      const found = judgeOutbox(folder, tracker.moves);
      const lost = Math.max(0, written - found.inputs);
      const { asked, refused, again } = tracker.counts;
      const line = outboxVerdictLine(found);
      return {
        figures: [
          describeCounts(killed),
          `${seconds.toFixed(1)} s, ${plan.length} ${unit}; ${found.inputs} facts, ${found.lines} lines, ${lost} lost; the tracker was called ${asked} times, rejected ${refused}, ${again} were repeated after their result existed`,
          line,
        ],
        problems: [
          ...unless(isKept(found), line),
          ...unless(lost === 0, `${lost} facts are lost`),
          ...found.problems,
        ],
      };
    },
    broken,
  });
}

/** A disk that does not sync loses everything: parts, such as half a database, would be unusable. */
async function mountDisk(folder: string, sync: Sync): Promise<PowerCutDisk> {
  const disk = await mountPowerCutDisk({ folder, sync });
  if (sync === 'everything') return disk;
  return { ...disk, cut: (cut) => disk.cut({ ...cut, torn: null }) };
}

/** Returns how many facts were reported as written. */
async function liveUntilKilled(
  orders: ChildOrders & { kill: PlannedKill },
  disk: PowerCutDisk | undefined,
): Promise<number> {
  let written = 0;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const kill = attempt === 0 ? orders.kill : { ...orders.kill, nth: 1 };
    const { ending, ...life } = await live({ ...orders, kill }, disk);
    written += life.written;
    if (ending === 'SIGKILL') return written;
    if (ending !== 0) throw new Error(`a process with ${JSON.stringify(kill)} ended with ${ending}`);
  }
  throw new Error(`${orders.kill.point} was not reached in ${TRIES} processes`);
}

type Life = {
  /** An exit code or a signal. */
  ending: number | string;
  written: number;
};

/** When a process ends by SIGKILL, its disk loses its power too. */
async function live(orders: ChildOrders, disk: PowerCutDisk | undefined): Promise<Life> {
  const child = endWithScript(
    spawn(process.execPath, [script, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const ended = endOf(child);
  const late = setTimeout(() => child.kill('SIGTERM'), 3 * WAIT_MS);
  let lines = 0;
  let cut: Promise<unknown> | undefined;
  function kill(): Promise<unknown> {
    child.kill('SIGKILL');
    return ended;
  }
  function cutPower(): void {
    cut ??= disk?.cut({
      kill,
      torn: random.chance(0.6) ? random.below(2 ** 31) : null,
      inSync: child.exitCode === null && child.signalCode === null && random.chance(0.5),
    });
  }
  child.stdout.setEncoding('utf8').on('data', (printed: string) => {
    lines += printed.split('\n').length - 1;
    if (orders.kill?.point !== 'any-moment' || lines < orders.kill.nth) return;
    if (disk === undefined) void kill();
    else cutPower();
  });
  const ending = await ended;
  clearTimeout(late);
  if (ending === 'SIGKILL') cutPower();
  await cut;
  return { ending, written: lines };
}

// The outside world: a tracker that records every move of a ticket, in order. It runs in the process that kills, so it
// survives the kills.

async function startChaosTracker() {
  /** Keys of the effects that changed a ticket, in the order of the changes. */
  const moves = new Map<string, string[]>();
  const states = new Map<string, string>();
  /** `again`: effects that were repeated after their result existed, which is harmless if they changed nothing. */
  const counts = { asked: 0, again: 0, refused: 0 };
  const seen = new Set<string>();

  /** The status to answer with. `add` is the sabotage: a move that is made whatever the state. */
  function set(ticket: string, { key, phase, add }: { key: string; phase: string; add: boolean }): number {
    counts.asked += 1;
    if (isUnknownTicket(ticket)) return 404;
    const isNew = !seen.has(key);
    seen.add(key);
    if (isNew && seen.size % REFUSE_EVERY === 0) {
      counts.refused += 1;
      return 503;
    }
    const before = moves.get(ticket) ?? [];
    if (before.includes(key)) counts.again += 1;
    if (states.get(ticket) === phase && !add) return 200;
    states.set(ticket, phase);
    moves.set(ticket, [...before, key]);
    return 200;
  }

  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const status = set(decodeURIComponent(request.url ?? '').slice(1), JSON.parse(body));
        return response.writeHead(status).end();
      },
      // The sender was killed while it sent: no complete request.
      () => response.destroy(),
    );
  });
  const { port, close } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, moves, counts, close };
}

// Compares the results with what the log requested: every effect once, in order, none missing.

type OutboxVerdict = ReturnType<typeof judgeOutbox>;

function judgeOutbox(folder: string, moves: ReadonlyMap<string, readonly string[]>) {
  const lines = logLines(join(folder, 'events')).map((line) => JSON.parse(line) as EventLine);
  const board = newBoard();
  const effects = lines.flatMap((line) => foldChaosLine(board, line));
  /** `doubled`: exists more than once; `overtaken`: in another order than the lines; `wronglyEnded`: or still pending. */
  const counts = { missing: 0, doubled: 0, overtaken: 0, givenUp: 0, wronglyEnded: 0 };
  const about = { lines: lines.length, inputs: board.inputs, expected: effects.length };
  const verdict = { ...about, ...counts, problems: [] as string[] };

  function compare(what: string, expected: readonly string[], found: readonly string[]): void {
    const missing = expected.filter((key) => !found.includes(key));
    const doubled = found.filter((key, index) => found.indexOf(key) !== index || !expected.includes(key));
    verdict.missing += missing.length;
    verdict.doubled += doubled.length;
    for (const key of missing) verdict.problems.push(`${what}: ${key} is missing`);
    for (const key of doubled) verdict.problems.push(`${what}: ${key} exists once too often`);
    if (missing.length + doubled.length > 0 || expected.every((key, index) => found[index] === key)) return;
    verdict.overtaken += 1;
    verdict.problems.push(`${what}: another order than the lines`);
  }

  for (const [target, expected] of Map.groupBy(effects, targetOf)) {
    const keys = expected.map(({ key }) => key);
    if (target.startsWith('signal-')) compare(target, keys, historyOf(join(folder, target)));
    else if (target !== 'log' && target !== 'given up') compare(target, keys, moves.get(target) ?? []);
  }
  const delivered = lines.flatMap(({ deliveryId }) => deliveryId ?? []).toSorted();
  const appended = effects.filter((effect) => targetOf(effect) === 'log');
  const hopeless = effects.filter((effect) => targetOf(effect) === 'given up');
  const ofOutbox = (prefix: string) => delivered.filter((id) => id.startsWith(prefix));
  compare('lines', sorted(appended, appendDelivery), ofOutbox(appendDelivery('')));
  compare('attention', sorted(hopeless, gaveUpDelivery), ofOutbox(gaveUpDelivery('')));
  compareRows(lines.at(-1)?.seq ?? 0);
  return verdict;

  function compareRows(lastSeq: number): void {
    const database = openOutboxDatabase(join(folder, 'svc.db'));
    const store = createOutboxStore({
      kinds: effectKinds,
      database,
      lastSeq,
      clock: { now: () => Date.now() },
    });
    try {
      for (const effect of effects) {
        const row = store.find(effect.key);
        const state = targetOf(effect) === 'given up' ? 'given-up' : 'done';
        if (row?.state === 'given-up' && state === 'given-up') verdict.givenUp += 1;
        if (row?.state === state) continue;
        verdict.wronglyEnded += 1;
        verdict.problems.push(`${effect.key} is ${row?.state ?? 'in no row'}, not ${state}`);
      }
      const { done, givenUp, pending } = store.counts();
      const extra = done + givenUp + pending - effects.length;
      if (extra > 0) verdict.problems.push(`${extra} rows that no line requested`);
      verdict.doubled += Math.max(0, extra);
    } finally {
      store.close();
    }
  }
}

function isKept({ missing, doubled, overtaken, wronglyEnded }: OutboxVerdict): boolean {
  return missing + doubled + overtaken + wronglyEnded === 0;
}

function outboxVerdictLine(verdict: OutboxVerdict): string {
  const { expected, missing, doubled, overtaken, givenUp, wronglyEnded } = verdict;
  return `effects expected ${expected} missing ${missing} doubled ${doubled} overtaken ${overtaken} wrongly ended ${wronglyEnded} (rightly given up ${givenUp})`;
}

/** Where the result of an effect is. */
function targetOf(effect: Effect): string {
  if (effect.kind === 'write-signal') return `signal-${effect.orchestrator}-${effect.ticket}.json`;
  if (effect.kind === 'move-ticket') return isUnknownTicket(effect.ticket) ? 'given up' : effect.ticket;
  return 'log';
}

function sorted(effects: readonly Effect[], delivery: (key: string) => string): string[] {
  return effects.map(({ key }) => delivery(key)).toSorted();
}

function historyOf(path: string): string[] {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).history : [];
}
