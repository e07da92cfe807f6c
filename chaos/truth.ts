// Random worlds (projects and their files, pull requests, deployments, lost and repeated deliveries, agents that claim,
// helpers that lie, restarts) are played against the product, and its answers are compared with an independent model of
// what can be proved (truth/model.ts). A false done, a false "shipped", a ticket in Done without proof, two answers that
// differ, or a proved worker that never becomes done is a difference; it is printed with its seed and the fewest steps
// that show it.
// `npm run chaos:truth` plays 100,000 worlds in this process and its children; `-- --worlds 300` fewer, `-- --seed 7`
// others, `-- --show 3` prints three examples of each kind; `-- --sabotage` breaks the product in known ways, which have
// to be noticed; with `--daemon 100 --sabotage` also around a real daemon, as far as that is possible.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import {
  describeMachine,
  endWithScript,
  failUnless,
  judgeSabotage,
  scriptFolder,
  scriptOptions,
  secondsSince,
  severalAtOnce,
} from '../packages/testkit/src/script.ts';
import type { playHome as PlayHome } from './truth/daemon.ts';
import { createJudge, type Findings, judgeWorlds, noFindings } from './truth/judge.ts';
import { plantedFaults } from './truth/sabotage.ts';
import { describeStep, shrunk } from './truth/shrink.ts';
import { createWorld } from './truth/world.ts';

const options = scriptOptions({
  worlds: 100_000,
  seed: 1,
  /** This many worlds with a real daemon, instead of the worlds in the process. */
  daemon: 0,
  /** Worlds that share a daemon. */
  'in-home': 25,
  jobs: availableParallelism(),
  show: 1,
  sabotage: false,
  /** Prints the findings as JSON only: for the children of this script. */
  findings: false,
});
/** Most faults show in the first hundred. */
const SABOTAGE_WORLDS = 3_000;

// Thousands of small files are written and removed: in memory if the system has a folder for that.
if (existsSync('/dev/shm')) process.env['TMPDIR'] ??= '/dev/shm';
const printed = new Set<number>();
const judge = createJudge(scriptFolder('chaos-truth'));

if (options.findings)
  console.log(JSON.stringify(await judgeWorlds(judge, { ...options, examples: options.show })));
else if (options.daemon > 0) {
  console.log(describeMachine());
  await playDaemons();
} else {
  console.log(describeMachine());
  const started = performance.now();
  const findings = await inChildren();
  const { worlds, steps, proved, unproved, open } = findings;
  console.log(
    `${worlds} worlds of ${Math.round(steps / worlds)} steps in ${secondsSince(started)} s; workers proved ${proved}, not proved ${unproved}, left open by the rules ${open}`,
  );
  console.log(describe(findings.counts));
  for (const { seed, kind } of findings.examples) if (!printed.has(seed)) await printExample(seed, kind);
  failUnless(Object.keys(findings.counts).length === 0);
  if (options.sabotage) await plantFaults();
}

/** The worlds in equal parts, each in its own process. */
async function inChildren(): Promise<Findings> {
  const share = Math.ceil(options.worlds / options.jobs);
  const parts = Array.from({ length: options.jobs }, async (_, index): Promise<Findings> => {
    const seed = options.seed + index * share;
    const worlds = Math.min(share, options.seed + options.worlds - seed);
    if (worlds <= 0) return noFindings();
    const words = ['--findings', '--seed', seed, '--worlds', worlds, '--show', options.show].map(String);
    const child = endWithScript(
      spawn(process.execPath, [import.meta.filename, ...words], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    return JSON.parse(await text(child.stdout)) as Findings;
  });
  const all = await Promise.all(parts);
  const counts: Findings['counts'] = {};
  for (const part of all)
    for (const [kind, count] of Object.entries(part.counts) as [keyof typeof counts, number][])
      counts[kind] = (counts[kind] ?? 0) + count;
  const examples = all.flatMap((part) => part.examples);
  const sum = (name: 'worlds' | 'steps' | 'proved' | 'unproved' | 'open'): number =>
    all.reduce((total, part) => total + part[name], 0);
  return {
    worlds: sum('worlds'),
    steps: sum('steps'),
    proved: sum('proved'),
    unproved: sum('unproved'),
    open: sum('open'),
    counts,
    examples: Object.keys(counts).flatMap((kind) =>
      examples.filter((example) => example.kind === kind).slice(0, options.show),
    ),
  };
}

async function playDaemons(): Promise<void> {
  const { playHome } = await import('./truth/daemon.ts');
  const size = options['in-home'];
  const homes = Math.ceil(options.daemon / size);
  const started = performance.now();
  const counts: Findings['counts'] = {};
  const all = await severalAtOnce(homes, options.jobs, async (index) => {
    const seed = options.seed + index * size;
    const home = await playHome(seed, Math.min(size, options.daemon - index * size));
    const unique = new Map(home.differences.map((difference) => [JSON.stringify(difference), difference]));
    for (const { kind, text: what } of unique.values()) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      console.log(`home of seed ${seed}, ${kind}: ${what}`);
    }
    return home;
  });
  const sum = (count: (home: (typeof all)[number]) => number): number =>
    all.reduce((total, home) => total + count(home), 0);
  console.log(
    `${options.daemon} worlds in ${homes} homes, ${sum(({ steps }) => steps)} steps, ${sum(({ restarts }) => restarts)} kills, in ${secondsSince(started)} s`,
  );
  console.log(describe(counts));
  failUnless(Object.keys(counts).length === 0);
  if (options.sabotage) await plantFaultsAround(playHome);
}

/** The homes of the same seeds are right without the fault. */
async function plantFaultsAround(playHome: typeof PlayHome): Promise<void> {
  const size = Math.min(options['in-home'], options.daemon);
  for (const { what, expected, atDaemon } of plantedFaults) {
    if (atDaemon === undefined) continue;
    let found = 'nothing';
    for (let played = 0; played + size <= options.daemon && found === 'nothing'; played += size) {
      const { differences } = await playHome(options.seed + played, size, atDaemon());
      const noticed = differences.find(({ kind }) => expected.includes(kind));
      if (noticed !== undefined) found = `${noticed.kind}: ${noticed.text}`;
    }
    judgeSabotage(`${what}, around a daemon`, found, found !== 'nothing');
  }
}

function describe(counts: Findings['counts']): string {
  const kinds = [
    'false done',
    'false shipped',
    'tracker done without proof',
    'answers differ',
    'stuck',
  ] as const;
  const others = Object.keys(counts).filter((kind) => !kinds.some((known) => known === kind));
  return [...kinds, ...(others as (keyof typeof counts)[])]
    .map((kind) => `${kind} ${counts[kind] ?? 0}`)
    .join(', ');
}

async function printExample(seed: number, kind: string): Promise<void> {
  printed.add(seed);
  const small = await shrunk(createWorld(seed), async (world) =>
    (await judge.judge(world)).some((difference) => difference.kind === kind),
  );
  const texts = (await judge.judge(small)).map((difference) => `${difference.kind}: ${difference.text}`);
  console.log(`seed ${seed}, ${texts.join('; ')}`);
  for (const step of small.steps) console.log(`  ${describeStep(step)}`);
}

/** A fault is noticed when a world that is right without it shows what is expected of it. */
async function plantFaults(): Promise<void> {
  const healthy = new Map<number, Promise<boolean>>();
  const isHealthy = (seed: number): Promise<boolean> => {
    const known = healthy.get(seed) ?? judge.judge(createWorld(seed)).then((found) => found.length === 0);
    healthy.set(seed, known);
    return known;
  };
  for (const { what, expected, fault } of plantedFaults) {
    let found = 'nothing';
    for (let seed = options.seed; seed < options.seed + SABOTAGE_WORLDS && found === 'nothing'; seed += 1) {
      const differences = await judge.judge(createWorld(seed), fault());
      const noticed = differences.find(({ kind }) => expected.includes(kind));
      if (noticed !== undefined && (await isHealthy(seed))) found = `seed ${seed}, ${noticed.kind}`;
    }
    judgeSabotage(what, found, found !== 'nothing');
  }
}
