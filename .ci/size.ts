// `npm run size`: lines and files of tracked sources, without tests, by part.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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

const parts = new Map<string, { files: number; lines: number }>();
for (const file of execFileSync('git', ['ls-files', '--', ...SOURCES], { encoding: 'utf8' })
  .trim()
  .split('\n')) {
  if (IS_TEST.test(file)) continue;
  const [top = '', second = ''] = file.split('/');
  const name = top === 'packages' ? `packages/${second}` : top;
  const part = parts.get(name) ?? { files: 0, lines: 0 };
  part.files += 1;
  part.lines += readFileSync(file, 'utf8').split('\n').length - 1;
  parts.set(name, part);
}

const row = (name: string, { files, lines }: { files: number; lines: number }) =>
  console.log(`${name.padEnd(20)} ${String(lines).padStart(7)} lines ${String(files).padStart(5)} files`);
const total = (wanted: (name: string) => boolean) => {
  const chosen = [...parts].filter(([name]) => wanted(name)).map(([, part]) => part);
  return chosen.reduce((sum, { files, lines }) => ({ files: sum.files + files, lines: sum.lines + lines }), {
    files: 0,
    lines: 0,
  });
};
for (const [name, part] of [...parts].toSorted(([a], [b]) => a.localeCompare(b))) row(name, part);
row(
  'packages',
  total((name) => name.startsWith('packages/')),
);
row(
  'everything else',
  total((name) => !name.startsWith('packages/')),
);
