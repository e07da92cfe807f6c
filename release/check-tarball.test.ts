// A correct tarball, and each thing that can be wrong with one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, it, test } from 'vitest';
import { bundledOf, tarballProblems } from './check-tarball.ts';
import { noticesText } from './notices.ts';
import type { Manifest, Tarball } from './pack.ts';

import type { PublishedPackage } from './packages.ts';
import { root } from './versions.ts';

const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt';
const each: PublishedPackage = {
  name: 'x',
  folder: 'packages/x',
  build: 'packages/x/build.ts',
  from: 'packages/x',
  copy: ['dist'],
  contents: { allowed: [/^dist\//], required: [NOTICES], maxPackedBytes: 9_999, maxUnpackedBytes: 9_999 },
};
const lock = { packages: { 'node_modules/sdk': { peerDependencies: { 'sdk-types': '1' } } } };
const zod = { name: 'zod', version: '4.0.0', licence: 'MIT', words: 'Be kind.' };
const dependencies = { sdk: '1', 'sdk-types': '1' };
const good: Record<string, string> = {
  'package.json': '{}',
  'README.md': '# x',
  LICENSE: 'MIT',
  'dist/x.js': '#!/usr/bin/env node\nimport "sdk";\n',
  [NOTICES]: noticesText([zod]),
};

function tarball(files: Record<string, string>, manifest: Partial<Manifest> = {}): Tarball {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const bin = { x: 'dist/x.js' };
  const list = Object.keys(files).map((path) => ({ path, size: 1, mode: 0o755 }));
  return {
    name: 'x',
    version: '1.0.0',
    path: '',
    folder,
    manifest: { name: 'x', version: '1.0.0', license: 'MIT', bin, dependencies, ...manifest },
    packed: { files: list, packedBytes: 1, unpackedBytes: 1, bin },
  };
}

it('has no problems if it is correct', () => {
  expect(tarballProblems(each, tarball(good), '1.0.0', lock)).toEqual([]);
  expect(bundledOf(tarball(good))).toEqual([{ name: 'zod', version: '4.0.0', licence: 'MIT' }]);
});

test.each<[name: string, made: () => Tarball, words: string]>([
  ['a file too many', () => tarball({ ...good, 'notes.txt': '' }), 'notes.txt is not on the list'],
  [
    'a folder of this machine',
    () => tarball({ ...good, 'dist/y.js': `// ${root}` }),
    'dist/y.js: line 1 names',
  ],
  ['an import', () => tarball({ ...good, 'dist/y.js': 'import "left-pad"' }), 'left-pad is imported but not'],
  [
    'a dependency',
    () => tarball(good, { dependencies: { ...dependencies, z: '1' } }),
    'z is declared but not',
  ],
  [
    'a command without #!',
    () => tarball({ ...good, 'dist/x.js': 'import "sdk";' }),
    'dist/x.js does not name',
  ],
  ['another name', () => tarball(good, { name: '@svc/x' }), 'its name is @svc/x, not x'],
  ['another version', () => tarball(good, { version: '0.9.0' }), 'its version is 0.9.0, but version.txt has'],
  ['another licence', () => tarball(good, { license: 'UNLICENSED' }), 'does not name the licence MIT'],
  [
    'bundled code that may not ship',
    () => tarball({ ...good, [NOTICES]: noticesText([{ ...zod, licence: 'GPL-3.0-only' }]) }),
    'zod 4.0.0 has the licence GPL-3.0-only',
  ],
])('%s is found', (_, made, words) => {
  expect(tarballProblems(each, made(), '1.0.0', lock)).toEqual([expect.stringContaining(words)]);
});

it('does not check the imports of files for the browser', () => {
  const files = { ...good, 'dist/dashboard/assets/app.js': 'import "react"' };
  expect(tarballProblems(each, tarball(files), '1.0.0', lock)).toEqual([]);
});
