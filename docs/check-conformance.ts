// Checks docs/conformance.md: every test that a row names exists. Prints how many rows are held.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const rows = readFileSync(join(root, 'docs', 'conformance.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| *[A-Z]+-\d+ *\|/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const problems: string[] = [];
let held = 0;
for (const [, id = '', , heldBy = ''] of rows) {
  if (heldBy === 'not yet') continue;
  held += 1;
  for (const reference of heldBy.replaceAll('`', '').split('; ')) checkReference(id, reference);
}
const ids = rows.map(([, id = '']) => id);
for (const id of ids.filter((candidate, index) => ids.indexOf(candidate) !== index))
  problems.push(`${id} stands twice`);

for (const problem of problems) console.error(problem);
console.log(`${rows.length} rows, ${held} held by tests, ${rows.length - held} not yet`);
if (problems.length > 0 || rows.length === 0) process.exitCode = 1;

function checkReference(id: string, reference: string): void {
  const [file = '', fragment = ''] = reference.split(' › ');
  if (!existsSync(join(root, file))) problems.push(`${id}: no file ${file}`);
  else if (fragment === '' || !readFileSync(join(root, file), 'utf8').includes(fragment)) {
    problems.push(`${id}: ${file} has no test "${fragment}"`);
  }
}
