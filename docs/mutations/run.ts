// Verifies the conformance table: breaks one behaviour after the other in copies of the working tree, and expects its
// test in the table to fail. There is a copy for each core, because most tests keep one busy or wait. The copies are
// removed at the end.
// `npm run conformance:mutate` (all of rows/); `-- --rows AUTH-1,EVT`, or `-- --count 5`, spread over all.
// Exit code 1 if a mutation survives, or if its test does not fail by an assertion.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { conformanceById } from './conformance-rows.ts';
import { applyMutation, chooseMutations, type Mutation, readMutations, testsOf } from './mutations.ts';
import { judgeMutation, type TestReport, type Verdict, whyNotSound } from './verdict.ts';

const root = join(import.meta.dirname, '..', '..');
/** Longer than any test may take, so that vitest itself ends it, with its cleanup. */
const LIMIT_MS = 300_000;
const SOUND_LIMIT_MS = 1_800_000;
/** Build output, installed packages, and files that no test reads. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.vitest', 'coverage', 'images', 'screenshots']);

const rows = conformanceById(readFileSync(join(root, 'docs', 'conformance.md'), 'utf8'));
const { values: wish } = parseArgs({ options: { rows: { type: 'string' }, count: { type: 'string' } } });
const chosen = chooseMutations(readMutations(), wish);
const startedAt = Date.now();
const copies = Array.from({ length: Math.min(availableParallelism(), chosen.length, 8) }, () =>
  mkdtempSync(join(tmpdir(), 'svc-mutations-')),
);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted = true;
  });
try {
  for (const copy of copies) copyTree(copy);
  process.exitCode = (await mutateAll()) ? 0 : 1;
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}

async function mutateAll(): Promise<boolean> {
  print(`${chosen.length} mutations; first their tests, without a mutation`);
  const unsound = await findUnsound();
  print(`${chosen.length - unsound.size} pass (${seconds(Date.now() - startedAt)})`);
  const verdicts: Verdict[] = [];
  const left = chosen.values();
  async function mutateIn(copy: string): Promise<void> {
    for (const mutation of left) {
      if (interrupted) return;
      const since = Date.now();
      const why = unsound.get(mutation);
      const verdict: Verdict =
        why === undefined
          ? await mutate(copy, mutation)
          : { is: 'unproved', why: `it fails without the mutation: ${why}` };
      verdicts.push(verdict);
      printVerdict(mutation, verdict, Date.now() - since);
    }
  }
  await Promise.all(copies.map(mutateIn));
  if (interrupted) return false;
  const caught = verdicts.filter(({ is }) => is === 'caught').length;
  const survived = verdicts.filter(({ is }) => is === 'survived').length;
  const unproved = verdicts.length - caught - survived;
  print(
    `${verdicts.length} rows, ${caught} caught, ${survived} survived` +
      `${unproved === 0 ? '' : `, ${unproved} unproved`} (${seconds(Date.now() - startedAt)})`,
  );
  return verdicts.length > 0 && caught === verdicts.length;
}

/** A test that already fails proves nothing. One that fails together with the others is retried alone. */
async function findUnsound(): Promise<Map<Mutation, string>> {
  const together = await whyNotSoundAll(chosen, SOUND_LIMIT_MS);
  const unsound = new Map<Mutation, string>();
  for (const mutation of together.keys()) {
    if (interrupted) return together;
    const alone = await whyNotSoundAll([mutation], LIMIT_MS);
    for (const [, why] of alone) unsound.set(mutation, why);
  }
  return unsound;
}

async function whyNotSoundAll(some: readonly Mutation[], limitMs: number): Promise<Map<Mutation, string>> {
  const tests = some.map((mutation) => testsOf(mutation, rows));
  const files = [...new Set(tests.map(({ file }) => file))];
  const [copy = ''] = copies;
  const report = await runTests(copy, { files, names: tests.map(({ names }) => names), limitMs });
  return new Map(
    some.flatMap((mutation) => {
      const why =
        report === undefined ? 'vitest gave no report' : whyNotSound(report, testsOf(mutation, rows));
      return why === undefined ? [] : [[mutation, why] as const];
    }),
  );
}

async function mutate(copy: string, mutation: Mutation): Promise<Verdict> {
  const path = join(copy, mutation.file);
  const text = readFileSync(path, 'utf8');
  const { file, names } = testsOf(mutation, rows);
  const broken = applyMutation(text, mutation);
  if (!broken.ok) return { is: 'unproved', why: broken.why };
  writeFileSync(path, broken.text);
  try {
    // Broken code often never does what a test waits for: half a minute is enough.
    const environment = { TEST_PATIENCE: '0.5' };
    const report = await runTests(copy, { files: [file], names: [names], limitMs: LIMIT_MS, environment });
    if (report === undefined) return { is: 'unproved', why: `no report within ${seconds(LIMIT_MS)}` };
    return judgeMutation(report, { file, names });
  } finally {
    writeFileSync(path, text);
  }
}

type Wanted = {
  files: readonly string[];
  names: readonly RegExp[];
  limitMs: number;
  environment?: Record<string, string>;
};

/** Runs tests of a copy, one vitest at a time. `undefined`: it timed out, or there is no report. */
async function runTests(copy: string, wanted: Wanted): Promise<TestReport | undefined> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  const names = wanted.names.map(({ source }) => `(?:${source})`).join('|');
  const reporter = ['--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(
    process.execPath,
    [vitest, 'run', ...wanted.files, '-t', names, '--maxWorkers=2', ...reporter],
    {
      cwd: copy,
      stdio: 'ignore',
      // Its own process group, so that all of it can be killed.
      detached: true,
      env: { ...process.env, ...wanted.environment, CI: '1', NO_COLOR: '1' },
    },
  );
  const stop = (): void => endGroup(child.pid);
  const limit = setTimeout(stop, wanted.limitMs);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await once(child, 'exit');
  } finally {
    clearTimeout(limit);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as TestReport) : undefined;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has already ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Our own packages resolve to the copy, all others to the installed ones. */
function copyTree(copy: string): void {
  cpSync(root, copy, {
    recursive: true,
    // The built web app: its tests open it in a browser.
    filter: (path) => path === root || path.endsWith('dashboard/dist') || !LEFT_OUT.has(basename(path)),
  });
  const [from, to] = [join(root, 'node_modules'), join(copy, 'node_modules')];
  mkdirSync(join(to, '@svc'), { recursive: true });
  const ours = new Map(readdirSync(join(copy, 'packages')).map((name) => [nameOfPackage(copy, name), name]));
  for (const [packageName, name] of ours) symlinkSync(join(copy, 'packages', name), join(to, packageName));
  for (const name of readdirSync(from)) {
    // Tool caches are not shared: broken code must not get into them.
    const isCache = name.startsWith('.') && name !== '.bin';
    if (!isCache && name !== '@svc' && !ours.has(name)) symlinkSync(join(from, name), join(to, name));
  }
}

function nameOfPackage(copy: string, name: string): string {
  const description = readFileSync(join(copy, 'packages', name, 'package.json'), 'utf8');
  return (JSON.parse(description) as { name: string }).name;
}

function printVerdict(mutation: Mutation, verdict: Verdict, milliseconds: number): void {
  const result =
    verdict.is === 'caught'
      ? 'failed as expected'
      : verdict.is === 'survived'
        ? 'SURVIVED'
        : `UNPROVED: ${verdict.why}`;
  const sentence = rows.get(mutation.row)?.sentence ?? mutation.test?.split(' › ')[1] ?? '';
  const shown = sentence.length > 80 ? `${sentence.slice(0, 79)}…` : sentence;
  print(
    `${mutation.row.padEnd(8)} ${shown.padEnd(80)} ${mutation.file}  ${result} (${seconds(milliseconds)})`,
  );
  if (verdict.is !== 'caught') print(`         test: ${testsOf(mutation, rows).file}`);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
