// Builds dist/, which is the package that is published: plain JavaScript, its types, and a package.json of its own.
// In this repository `exports` leads to the sources, and npm cannot be told to publish other ones. The folder may be
// another: node packages/client/build.ts <folder>
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

type Manifest = Record<string, unknown>;

const here = import.meta.dirname;
const root = join(here, '..', '..');
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
// Built beside and then put in place, so that a failed build leaves the one before.
const fresh = `${dist}.${process.pid}.tmp`;

try {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', join(here, 'tsconfig.build.json'), '--outDir', fresh], { stdio: 'inherit' });
  for (const name of readdirSync(fresh)) settle(join(fresh, name));
  writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
console.log(`built ${dist}`);

/** The compiler rewrites the imports of programs, and leaves those of types as they are. */
function settle(file: string): void {
  const text = readFileSync(file, 'utf8');
  // A file of types alone has no program.
  if (/^(?:\/\/.*\n|\/\*.*\*\/\n|\s)*export \{\};\s*$/.test(text)) return rmSync(file);
  if (file.endsWith('.d.ts')) writeFileSync(file, text.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'"));
}

function manifest(): Manifest {
  const { exports: _, ...own } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as Manifest;
  const version = readFileSync(join(root, 'version.txt'), 'utf8').trim();
  return {
    ...own,
    version,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts'],
  };
}
