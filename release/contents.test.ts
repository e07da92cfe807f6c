import { expect, it, test } from 'vitest';
import { contentProblems } from './check-tarball.ts';
import type { Packed, PackedFile } from './pack.ts';
import { type ContentsRule, packages } from './packages.ts';

const rule: ContentsRule = {
  allowed: [/^dist\/.*$/],
  required: ['dist/THIRD-PARTY-NOTICES.txt'],
  maxPackedBytes: 1_000,
  maxUnpackedBytes: 5_000,
};
const file = (path: string, mode = 0o644): PackedFile => ({ path, size: 10, mode });
const good: Packed = {
  files: [
    ...['package.json', 'README.md', 'LICENSE', 'dist/THIRD-PARTY-NOTICES.txt'].map((path) => file(path)),
    file('dist/svc.js', 0o755),
    file('dist/index.d.ts'),
  ],
  packedBytes: 1_000,
  unpackedBytes: 5_000,
  bin: { svc: './dist/svc.js' },
};
const withFile = (path: string): Packed => ({ ...good, files: [...good.files, file(path)] });
const without = (path: string): Packed => ({
  ...good,
  files: good.files.filter((each) => each.path !== path),
});

it('may have the intended files', () => expect(contentProblems(rule, good)).toEqual([]));

test.each<[name: string, packed: Packed, words: string]>([
  ['a file outside the list', withFile('notes.txt'), 'notes.txt is not on the list'],
  ['no readme', without('README.md'), 'README.md is missing'],
  ['no licence', without('LICENSE'), 'LICENSE is missing'],
  ['no notices', without('dist/THIRD-PARTY-NOTICES.txt'), 'NOTICES.txt is missing'],
  ['a command without its file', without('dist/svc.js'), 'the command svc starts ./dist/svc.js'],
  [
    'a command that is not executable',
    { ...good, files: [...without('dist/svc.js').files, file('dist/svc.js', 0o644)] },
    'cannot be executed',
  ],
  ['too much to load', { ...good, packedBytes: 1_001 }, 'packed it has 2 kB, but the limit is 1 kB'],
  ['too much to keep', { ...good, unpackedBytes: 5_001 }, 'unpacked it has 6 kB, but the limit is 5 kB'],
])('may not have %s', (_, packed, words) => {
  expect(contentProblems(rule, packed)).toEqual([expect.stringContaining(words)]);
});

const unwanted = [
  'log.test.js',
  'log.spec.js',
  'e2e/http.js',
  'svc.js.map',
  'start.ts',
  'app.tsx',
  '.npmrc',
  '.x.js',
  '.vite/license.json',
  'tls.pem',
  'svc.db',
  'svc.log',
  'x.tsbuildinfo',
  'node_modules/x/index.js',
];

test.each(
  packages.flatMap((each) =>
    ['', 'dist/', 'dist/demo/', 'dist/dashboard/', 'dist/dashboard/assets/', 'dist/skills/x/'].flatMap(
      (folder) => unwanted.map((path) => [each.name, folder + path, each.contents] as const),
    ),
  ),
)('%s may not have %s', (_, path, contents) => {
  expect(contentProblems(contents, withFile(path))).toContain(`${path} is not on the list of allowed files`);
});
