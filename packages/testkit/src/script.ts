// What chaos and bench scripts share: options, folders and processes that end with the script, parallel work, and the
// output of figures and verdicts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { WAIT_MS } from './waiting.ts';

type Options = Record<string, number | boolean | string>;
type Widened<T extends Options> = {
  [Name in keyof T]: T[Name] extends number ? number : T[Name] extends string ? string : boolean;
};

/** `scriptOptions({ deliveries: 50_000, sabotage: false })` reads `--deliveries 100 --sabotage`; others throw. */
export function scriptOptions<T extends Options>(defaults: T): Widened<T> {
  const entries = Object.entries(defaults);
  const { values } = parseArgs({
    options: Object.fromEntries(
      entries.map(
        ([name, value]) => [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' }] as const,
      ),
    ),
  });
  const read = entries.map(([name, value]) => {
    const given = values[name];
    if (given === undefined || typeof given === 'boolean') return [name, given ?? value];
    if (typeof value === 'string') return [name, given];
    if (given === '' || !Number.isFinite(Number(given))) throw new Error(`--${name} must be a number`);
    return [name, Number(given)];
  });
  return Object.fromEntries(read);
}

/** `2 cores Intel …, 24 GB, Linux 6.18, node v24.1.0, load 1.2`: the load shows whether the machine was busy. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const load = loadavg()[0]?.toFixed(1);
  return `${availableParallelism()} cores (${model}), ${gigabytes} GB, Linux ${release()}, node ${process.version}, load ${load}`;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];
let isWatched = false;

/** Runs however the script ends: first its processes, then their folders. */
function cleanUpAtEnd(): void {
  if (isWatched) return;
  isWatched = true;
  // A script with its own handler keeps it.
  if (process.listenerCount('SIGTERM') === 0)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL');
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
}

/** A new folder that is removed with the script; its name starts with `svc-` and the given name. */
export function scriptFolder(name: string): string {
  cleanUpAtEnd();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `svc-${name}-`)));
  folders.push(folder);
  return folder;
}

/** The process is killed with the script. */
export function endWithScript<Child extends ChildProcess>(child: Child): Child {
  cleanUpAtEnd();
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Processes that only compute, with different priorities, until the script ends, however it ends. */
export function keepProcessorBusy(processes: number): void {
  const work = 'while kill -0 $PPID; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done 2>/dev/null';
  for (let number = 0; number < processes; number += 1)
    endWithScript(spawn('nice', ['-n', String(number % 20), 'sh', '-c', work], { stdio: 'ignore' })).unref();
}

/** Resolves when the process has ended and its output was read: with its exit code, or the signal that ended it. */
export function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

/** Writes a file and creates its folders; anything but a string is written as JSON. */
export function writeInto(
  folder: string,
  path: string,
  content: string | Buffer | object,
  mode = 0o600,
): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(file, isText ? content : JSON.stringify(content), { mode });
}

/** The lines of an event log, months in order. */
export function logLines(eventsDir: string): string[] {
  return readdirSync(eventsDir)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .flatMap((name) => readFileSync(join(eventsDir, name), 'utf8').split('\n').slice(0, -1));
}

/** The answer of a server on this machine; with a body, to a POST. Throws if it is not 2xx. */
export async function askJson<Answer>(url: string, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(WAIT_MS),
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** On any port of this machine. */
export async function listen(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What `start` returns, with what ends all of it. If one part does not start, the others are ended. */
export async function startOrStop<T extends object>(
  start: (starting: AsyncDisposableStack) => Promise<T>,
): Promise<T & { stop: () => Promise<void> }> {
  const all = new AsyncDisposableStack();
  const stop = (): Promise<void> => all.disposeAsync();
  try {
    return { ...(await start(all)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Does the work for 0, 1, … `count - 1`, a limited number at a time. */
export async function severalAtOnce<T>(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) {
        const number = next;
        next += 1;
        results[number] = await work(number);
      }
    }),
  );
  return results;
}

/** `12.3`; times are those of `performance.now()`. */
export function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

export type Spread = { p50Ms: number; p99Ms: number; slowestMs: number };

export function spreadOf(milliseconds: readonly number[]): Spread {
  const sorted = Float64Array.from(milliseconds).toSorted();
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: sorted.at(-1) ?? 0 };
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).p50Ms;
}

/** `200: 17, 503: 2` */
export function describeCounts(counts: Iterable<readonly [name: string, count: number]>): string {
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(', ');
}

/** Prints a figure with its goal; the script fails if the goal is missed. */
export function judgeGoal(what: string, figure: number, goal: number, unit: string): void {
  const isReached = figure < goal;
  console.log(
    `${what}: ${figure.toFixed(0)} ${unit} (goal under ${goal}: ${isReached ? 'reached' : 'NOT reached'})`,
  );
  failUnless(isReached);
}

/** Prints whether a check has noticed deliberate damage; the script fails if it has not. */
export function judgeSabotage(what: string, found: string, isNoticed: boolean): void {
  console.log(`sabotage, ${what}: ${found}: ${isNoticed ? 'noticed' : 'NOT NOTICED'}`);
  failUnless(isNoticed);
}

export function printProblems(problems: readonly string[], most = 20): void {
  for (const problem of problems.slice(0, most)) console.log(`  ${problem}`);
}

export function failUnless(isGood: boolean): void {
  if (!isGood) process.exitCode = 1;
}

/** The lines that were added to the file since the last call. */
export function createTail(path: string): () => string[] {
  let offset = 0;
  return () => {
    if (!existsSync(path)) return [];
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(fstatSync(file).size - offset);
      const whole = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset)).lastIndexOf('\n') + 1;
      offset += whole;
      return bytes.toString('utf8', 0, whole).split('\n').filter(Boolean);
    } finally {
      closeSync(file);
    }
  };
}
