// Shows that the conformance table holds: breaks one behaviour after the other in a copy of the working tree, and
// expects the test that the table names for it to fail. The copy is removed in the end.
// `npm run conformance:mutate` (all of mutations.ts); `-- --rows AUTH-1,EVT-8`, or `-- --count 5`, spread over all.
// Exit code 1 when a mutation survives, or when its test does not fail by what it asserts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseMutations } from './choose.ts';
import { conformanceById } from './conformance-rows.ts';
import { type CopiedTree, copyTree } from './copy-tree.ts';
import { applyMutation, type Mutation, testsOf } from './mutation.ts';
import { mutations } from './mutations.ts';
import { runTests } from './run-tests.ts';
import { judgeMutation, type Verdict, whyNotSound } from './verdict.ts';

const root = join(import.meta.dirname, '..', '..');
/** Longer than any test may take by itself, so that it is vitest that ends it, with its clean-up. */
const LIMIT_MS = 300_000;
const SOUND_LIMIT_MS = 1_800_000;

const rows = conformanceById(readFileSync(join(root, 'docs', 'conformance.md'), 'utf8'));
const { values: wish } = parseArgs({ options: { rows: { type: 'string' }, count: { type: 'string' } } });
const chosen = chooseMutations(mutations, wish);
const startedAt = Date.now();
const tree = copyTree(root);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted = true;
  });
try {
  process.exitCode = (await mutateAll(tree)) ? 0 : 1;
} finally {
  tree.remove();
}

async function mutateAll({ folder }: CopiedTree): Promise<boolean> {
  print(`${chosen.length} mutations; first their tests, with nothing broken`);
  const unsound = await findUnsound(folder);
  print(`${chosen.length - unsound.size} pass (${seconds(Date.now() - startedAt)})`);
  const verdicts: Verdict[] = [];
  for (const mutation of chosen) {
    if (interrupted) return false;
    const began = Date.now();
    const why = unsound.get(mutation);
    const verdict: Verdict =
      why === undefined
        ? await mutate(folder, mutation)
        : { is: 'unproved', why: `it fails as it is: ${why}` };
    verdicts.push(verdict);
    tell(mutation, verdict, Date.now() - began);
  }
  const caught = verdicts.filter(({ is }) => is === 'caught').length;
  const survived = verdicts.filter(({ is }) => is === 'survived').length;
  const unproved = verdicts.length - caught - survived;
  print(
    `${verdicts.length} rows, ${caught} caught, ${survived} survived` +
      `${unproved === 0 ? '' : `, ${unproved} unproved`} (${seconds(Date.now() - startedAt)})`,
  );
  return verdicts.length > 0 && caught === verdicts.length;
}

/** A test that fails anyway shows nothing. What fails in the crowd is tried once more by itself. */
async function findUnsound(folder: string): Promise<Map<Mutation, string>> {
  const inTheCrowd = await whyNotSoundAll(folder, chosen, SOUND_LIMIT_MS);
  const unsound = new Map<Mutation, string>();
  for (const mutation of inTheCrowd.keys()) {
    if (interrupted) return inTheCrowd;
    const byItself = await whyNotSoundAll(folder, [mutation], LIMIT_MS);
    for (const [, why] of byItself) unsound.set(mutation, why);
  }
  return unsound;
}

async function whyNotSoundAll(
  folder: string,
  some: readonly Mutation[],
  limitMs: number,
): Promise<Map<Mutation, string>> {
  const tests = some.map((mutation) => testsOf(mutation, rows));
  const files = [...new Set(tests.map(({ file }) => file))];
  const report = await runTests(folder, { files, names: tests.map(({ names }) => names), limitMs });
  return new Map(
    some.flatMap((mutation) => {
      const why =
        report === undefined ? 'vitest gave no report' : whyNotSound(report, testsOf(mutation, rows));
      return why === undefined ? [] : [[mutation, why] as const];
    }),
  );
}

async function mutate(folder: string, mutation: Mutation): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const text = readFileSync(path, 'utf8');
  const { file, names } = testsOf(mutation, rows);
  const broken = applyMutation(text, mutation);
  if (!broken.ok) return { is: 'unproved', why: broken.why };
  writeFileSync(path, broken.text);
  try {
    // Broken code often never does what a test waits for: half a minute is enough to find out.
    const environment = { TEST_PATIENCE: '0.5' };
    const report = await runTests(folder, { files: [file], names: [names], limitMs: LIMIT_MS, environment });
    if (report === undefined) return { is: 'unproved', why: `no report within ${seconds(LIMIT_MS)}` };
    return judgeMutation(report, { file, names });
  } finally {
    writeFileSync(path, text);
  }
}

function tell(mutation: Mutation, verdict: Verdict, milliseconds: number): void {
  const words =
    verdict.is === 'caught'
      ? 'failed as it should'
      : verdict.is === 'survived'
        ? 'SURVIVED'
        : `UNPROVED: ${verdict.why}`;
  const sentence = rows.get(mutation.row)?.sentence ?? '';
  const shown = sentence.length > 80 ? `${sentence.slice(0, 79)}…` : sentence;
  print(
    `${mutation.row.padEnd(8)} ${shown.padEnd(80)} ${mutation.file}  ${words} (${seconds(milliseconds)})`,
  );
  if (verdict.is !== 'caught') print(`         test: ${testsOf(mutation, rows).file}`);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
