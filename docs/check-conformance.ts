// Checks that every test that docs/conformance.md or a mutation names exists, and prints how many rows have tests. Whether
// the mutations fit the code: mutations/mutations.test.ts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  hasTest,
  readConformanceRows,
  readReference,
  type TestReference,
} from './mutations/conformance-rows.ts';
import { readMutations } from './mutations/mutations.ts';

const root = join(import.meta.dirname, '..');
const rows = readConformanceRows(readFileSync(join(root, 'docs', 'conformance.md'), 'utf8'));
const held = rows.filter(({ heldBy }) => heldBy.length > 0).length;
const ids = rows.map(({ id }) => id);
const problems = [
  ...rows.flatMap(({ id, heldBy }) => heldBy.flatMap((reference) => problemWith(id, reference))),
  ...readMutations().flatMap(({ row, test }) =>
    test === undefined ? [] : problemWith(row, readReference(test)),
  ),
  ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} appears twice`),
];

for (const problem of problems) console.error(problem);
console.log(`${rows.length} rows, ${held} with tests, ${rows.length - held} without`);
if (problems.length > 0 || rows.length === 0) process.exitCode = 1;

function problemWith(id: string, { file, fragment }: TestReference): string[] {
  if (!existsSync(join(root, file))) return [`${id}: no file ${file}`];
  return hasTest(readFileSync(join(root, file), 'utf8'), fragment)
    ? []
    : [`${id}: ${file} has no test "${fragment}"`];
}
