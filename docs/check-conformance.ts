// Checks that every test named in docs/conformance.md exists, and prints how many rows have tests.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConformanceRows, type TestReference } from './mutations/conformance-rows.ts';

const root = join(import.meta.dirname, '..');
const rows = readConformanceRows(readFileSync(join(root, 'docs', 'conformance.md'), 'utf8'));
const held = rows.filter(({ heldBy }) => heldBy.length > 0).length;
const ids = rows.map(({ id }) => id);
const problems = [
  ...rows.flatMap(({ id, heldBy }) => heldBy.flatMap((reference) => problemWith(id, reference))),
  ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} appears twice`),
];

for (const problem of problems) console.error(problem);
console.log(`${rows.length} rows, ${held} with tests, ${rows.length - held} without`);
if (problems.length > 0 || rows.length === 0) process.exitCode = 1;

function problemWith(id: string, { file, fragment }: TestReference): string[] {
  if (!existsSync(join(root, file))) return [`${id}: no file ${file}`];
  const isThere = fragment !== '' && readFileSync(join(root, file), 'utf8').includes(fragment);
  return isThere ? [] : [`${id}: ${file} has no test "${fragment}"`];
}
