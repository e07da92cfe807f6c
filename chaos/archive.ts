// Sweeps are killed at random steps while runs keep changing between them. After a kill each archive must be the old or
// the new one, never a mixture; after the next sweep index and blobs must agree, and nothing may be lost. Then many
// runs are archived, and listing them is timed.
// `npm run chaos:archive` (12 runs, 50 kills, 1,000 listed); `-- --kills 5 --listed 100`.
// `--sabotage` removes a blob after each sweep: the verdict has to notice.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { createBlobFolder } from '../packages/monitor/src/features/archive/io/blobs.ts';
import { readManifest } from '../packages/monitor/src/features/archive/io/manifest-file.ts';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  endOf,
  endWithScript,
  medianOf,
  scriptFolder,
  scriptOptions,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';
import type { Steps } from './archive-process.ts';
import { quietTerminal } from './quiet-terminal.ts';
import { scenario } from './scenario.ts';

const options = scriptOptions({
  runs: 12,
  kills: 50,
  listed: 1000,
  'goal-list': 200,
  seed: 1,
  sabotage: false,
});
/** How many sweeps for each kill may be tried until enough of them were killed while running. */
const TRIES_EACH = 10;
const LONG_AGO = new Date('2026-01-01T00:00:00Z');

const random = createRandom(options.seed);
const home = scriptFolder('chaos-archive');
const environment = { HOME: home, PATH: process.env['PATH'] };
const root = join(home, 'svc', 'archives');
const problems: string[] = [];
const figures: string[] = [];
/** The expected files of each run, by path below its folder; files that the run deleted stay. */
const truth = new Map<string, Map<string, Buffer>>();
const lines = new Map<string, string>();
let seq = 0;

const sweeper = await bundleProcess('chaos/archive-process.ts');
await scenario({
  title: `${options.runs} runs, ${options.kills} kills, ${options.listed} listed, seed ${options.seed}`,
  load: killSweeps,
  async verdict() {
    if (!options.sabotage) await timeList();
    return { figures, problems };
  },
  broken: options.sabotage && { what: 'a blob taken away', wanted: /^not clean after kill .* is missing/ },
});

async function killSweeps(): Promise<void> {
  const started = performance.now();
  const names = Array.from({ length: options.runs }, (_, number) => `orch-${number}`);
  for (const name of names) change(name, 12);
  const counts = { kills: 0, whole: 0, withNew: 0, cutInside: 0 };
  /** From the last sweep that was not killed. */
  let length = (await sweepAndKill('any', 0)) ?? { any: 1, 'no-blob': 1 };
  const isEnough = (): boolean => counts.kills >= options.kills && counts.withNew > 0 && counts.cutInside > 0;
  for (let left = options.kills * TRIES_EACH; !isEnough() && left > 0; left -= 1) {
    for (const name of names) if (random.chance(0.6)) change(name, 1 + random.below(4));
    const before = await manifestTimes(names);
    const kind = random.pick(['any', 'no-blob'] as const);
    const steps = await sweepAndKill(kind, 1 + random.below(length[kind]));
    if (steps !== undefined) {
      counts.whole += 1;
      length = steps;
      continue;
    }
    counts.kills += 1;
    const after = await manifestTimes(names);
    const moved = names.filter((name) => after.get(name) !== before.get(name)).length;
    if (moved > 0) counts.withNew += 1;
    if (readdirSync(root).some((name) => name.startsWith('.svc-')) || (await halfWritten(names)))
      counts.cutInside += 1;
    for (const name of names) await checkWhole(name);
    if ((await svc('sweep')) !== 0) problems.push('the next sweep failed');
    if (options.sabotage) takeBlobAway(random.pick(names));
    const printed: string[] = [];
    if ((await svc('verify', { printed })) !== 0)
      problems.push(`not clean after kill ${counts.kills}: ${printed.slice(0, 3).join('; ')}`);
    if (!options.sabotage) for (const name of names) await checkContent(name);
  }
  figures.push(
    `${counts.kills} sweeps killed in ${secondsSince(started)} s (${counts.whole} ended before): ${counts.withNew} with new archives, ${counts.cutInside} inside one; ${truth.size} runs, ${[...truth.values()].reduce((sum, files) => sum + files.size, 0)} files; after each, the next sweep and verify`,
  );
  if (!isEnough()) problems.push('too few kills hit a running sweep');
}

/** Files of a run are added, changed and removed; lines are added to the log. */
function change(name: string, files: number): void {
  const known = truth.get(name) ?? new Map<string, Buffer>();
  truth.set(name, known);
  for (let count = 0; count < files; count += 1) {
    const path = random.pick(['a', 'b', 'output/c', 'output/d', 'deep/er/e']) + random.below(8);
    const size = random.chance(0.2) ? 200_000 + random.below(2_000_000) : random.below(3_000);
    const part = random.bytes(Math.min(size, 4_096));
    const content = Buffer.alloc(size, part.length > 0 ? part : Buffer.from('x'));
    write(`runs/${name}/${path}`, content);
    known.set(path, content);
  }
  if (random.chance(0.3))
    rmSync(join(home, 'svc', 'runs', name, random.pick([...known.keys()])), { force: true });
  for (let count = random.below(4); count >= 0; count -= 1) {
    seq += 1;
    const line = `${JSON.stringify({ seq, ts: LONG_AGO.toISOString(), id: `e${seq}`, event: 'orchestrator.run.completed', source: 'orchestrator', via: 'local', scope: { orchestrator: name }, detail: {} })}\n`;
    mkdirSync(join(home, 'svc', 'events'), { recursive: true });
    appendFileSync(join(home, 'svc', 'events', '2026-01.jsonl'), line);
    lines.set(name, (lines.get(name) ?? '') + line);
  }
}

function write(path: string, content: Buffer | string): void {
  writeInto(home, join('svc', path), content);
  utimesSync(join(home, 'svc', path), LONG_AGO, LONG_AGO);
}

/** Kills it at its step of that kind and number, or never for 0. Returns its steps; undefined if it was killed. */
async function sweepAndKill(kind: keyof Steps, step: number): Promise<Steps | undefined> {
  const child = endWithScript(
    spawn(process.execPath, [sweeper, kind, String(step), 'sweep'], {
      cwd: home,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const [printed, code] = await Promise.all([text(child.stdout), endOf(child)]);
  if (code === 'SIGKILL') return undefined;
  if (code !== 0) problems.push(`a sweep ended with ${code}`);
  return JSON.parse(printed) as Steps;
}

async function manifestTimes(names: readonly string[]): Promise<Map<string, string>> {
  const times = new Map<string, string>();
  for (const name of names) {
    const reading = await readManifest(root, name);
    if (reading.state === 'ok') times.set(name, reading.sha256);
  }
  return times;
}

async function halfWritten(names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const reading = await readManifest(root, name);
    const files = reading.state === 'ok' ? reading.manifest.files : [];
    if ((await createBlobFolder(join(root, name)).extra(files)).length > 0) return true;
  }
  return false;
}

/** Right after a kill: the manifest, if there is one, is complete, and so is every blob in it. */
async function checkWhole(name: string): Promise<void> {
  const reading = await readManifest(root, name);
  if (reading.state === 'damaged') problems.push(`${name}: manifest ${reading.problem}`);
  if (reading.state !== 'ok') return;
  for (const file of reading.manifest.files) {
    const state = await createBlobFolder(join(root, name)).check(file);
    if (state !== 'ok') problems.push(`${name}: ${file.path} is ${state} after a kill`);
  }
}

/** After the next sweep: the last content of every file that the run ever had, and every line. */
async function checkContent(name: string): Promise<void> {
  const reading = await readManifest(root, name);
  if (reading.state !== 'ok') return void problems.push(`${name}: no archive`);
  const files = new Map(reading.manifest.files.map((file) => [file.path, file]));
  const expected = [...(truth.get(name) ?? [])].map(([path, content]) => [`run/${path}`, content] as const);
  for (const [path, content] of [
    ...expected,
    ['events.jsonl', Buffer.from(lines.get(name) ?? '')] as const,
  ]) {
    const file = files.get(path);
    // A file that existed only between two sweeps was never seen.
    if (file === undefined && !existsSync(join(home, 'svc', 'runs', name, path.slice(4)))) continue;
    const chunks: Buffer[] = [];
    if (file !== undefined)
      for await (const chunk of createBlobFolder(join(root, name)).read(file)) chunks.push(chunk);
    const isThere = file === undefined || existsSync(join(home, 'svc', 'runs', name, path.slice(4)));
    if ((isThere || path === 'events.jsonl') && !Buffer.concat(chunks).equals(content))
      problems.push(`${name}: ${path} has changed`);
  }
}

function takeBlobAway(name: string): void {
  const [blob] = readdirSync(join(root, name, 'blobs'));
  if (blob !== undefined) rmSync(join(root, name, 'blobs', blob));
}

async function timeList(): Promise<void> {
  for (let number = 0; number < options.listed; number += 1)
    write(`runs/listed-${number}/workers/ABC-1.json`, signalOf(`listed-${number}`));
  let started = performance.now();
  if ((await svc('sweep')) !== 0) problems.push('the large sweep failed');
  const first = performance.now() - started;
  started = performance.now();
  await svc('sweep');
  const again = performance.now() - started;
  const printed: string[] = [];
  started = performance.now();
  await svc('list', { printed });
  const inside = performance.now() - started;
  const counted = printed.filter((line) => line.startsWith('listed-')).length;
  const whole = await timeProcess(['archive', 'list']);
  const bare = await timeProcess(['--version']);
  figures.push(
    `${counted} runs archived in ${(first / 1000).toFixed(1)} s, swept again in ${(again / 1000).toFixed(2)} s; listed in ${inside.toFixed(0)} ms; as a process ${whole.toFixed(0)} ms, of which ${bare.toFixed(0)} ms to start (medians of 5)`,
  );
  if (counted !== options.listed) problems.push(`${counted} runs are listed, not ${options.listed}`);
  if (inside > options['goal-list']) problems.push(`a list takes more than ${options['goal-list']} ms`);
}

/** The built command line, as a user runs it. */
async function timeProcess(words: readonly string[]): Promise<number> {
  const program = join(import.meta.dirname, '..', 'packages', 'monitor', 'dist', 'svc.js');
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const started = performance.now();
    const how = { cwd: home, env: environment, stdio: 'ignore' } as const;
    const code = await endOf(endWithScript(spawn(process.execPath, [program, ...words], how)));
    if (code !== 0) problems.push(`svc ${words.join(' ')} ended with ${code}: is it built?`);
    times.push(performance.now() - started);
  }
  return medianOf(times);
}

function signalOf(orchestrator: string): string {
  const at = LONG_AGO.toISOString();
  const worker = { ticket: 'ABC-1', orchestrator, workerName: 'w', status: 'done', phase: 'x' };
  return JSON.stringify({ ...worker, startedAt: at, updatedAt: at });
}

function svc(verb: string, { printed }: { printed?: string[] } = {}): Promise<number> {
  const terminal = {
    ...quietTerminal,
    out: (line: string) => void printed?.push(line),
    err: () => undefined,
    environment,
    home,
    folder: home,
  };
  return runCommandLine(terminal, ['archive', verb]);
}
