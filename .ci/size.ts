// `npm run size`: lines and files of tracked sources by part, and lines of their tests; of the product by feature. And
// which features import each other: each of these pairs is one that cannot be taken apart.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCES = [
  '*.ts',
  '*.tsx',
  '*.css',
  '*.js',
  '*.mjs',
  '*.sh',
  'bin/svc',
  'bin/svc-relay',
  '.ci/run',
  '.ci/nightly',
];
const IS_TEST = /\.test\.ts$|\/e2e\/|\/testing\//;

type Size = { files: number; lines: number; tests: number };
const parts = new Map<string, Size>();
const imports = new Set<string>();
for (const file of execFileSync('git', ['ls-files', '--', ...SOURCES], { encoding: 'utf8' })
  .trim()
  .split('\n')) {
  const name = partOf(file);
  const part = parts.get(name) ?? { files: 0, lines: 0, tests: 0 };
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n').length - 1;
  if (IS_TEST.test(file)) part.tests += lines;
  else {
    part.files += 1;
    part.lines += lines;
    for (const [, path = ''] of text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g))
      imports.add(`${featureOf(file)} ${featureOf(join(dirname(file), path))}`);
  }
  parts.set(name, part);
}

/** A package, a feature of the product or another folder of it, or a folder beside the packages. */
function partOf(file: string): string {
  const [top = '', second = '', source, third = '', fourth = ''] = file.split('/');
  if (top !== 'packages') return top;
  if (second !== 'monitor' || source !== 'src' || fourth === '') return `packages/${second}`;
  const isFeature = third === 'features' && file.split('/').length > 5;
  return isFeature ? `  features/${fourth}` : `  ${third}`;
}

function featureOf(file: string): string {
  return /^packages\/monitor\/src\/features\/([^/]+)\//.exec(file)?.[1] ?? '';
}

const row = (name: string, { files, lines, tests }: Size) =>
  console.log(
    `${name.padEnd(24)} ${String(lines).padStart(7)} lines ${String(files).padStart(5)} files ${String(tests).padStart(7)} lines of tests`,
  );
const total = (wanted: (name: string) => boolean): Size => {
  const sum = { files: 0, lines: 0, tests: 0 };
  for (const [name, part] of parts)
    if (wanted(name)) {
      sum.files += part.files;
      sum.lines += part.lines;
      sum.tests += part.tests;
    }
  return sum;
};
const isInPackages = (name: string): boolean => /^(?:packages\/| )/.test(name);
for (const [name, part] of [...parts].toSorted(([a], [b]) => a.localeCompare(b))) row(name, part);
row('packages', total(isInPackages));
row(
  'packages but testkit',
  total((name) => isInPackages(name) && name !== 'packages/testkit'),
);
row(
  'everything else',
  total((name) => !isInPackages(name)),
);

const pairs = [...imports].filter((pair) => {
  const [from = '', to = ''] = pair.split(' ');
  return from !== '' && from < to && imports.has(`${to} ${from}`);
});
console.log(`features that import each other: ${pairs.length} pairs (${pairs.toSorted().join(', ')})`);
