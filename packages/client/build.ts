// Builds dist/, the published package: one bundle, declarations that need no other package, and its own package.json.
// In this repository `exports` points to the sources, and npm has no setting to publish other ones. For another folder:
// node packages/client/build.ts <folder>
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import { bundledIn, NOTICES, noticesText } from '../../release/notices.ts';

type Manifest = Record<string, unknown>;

const here = import.meta.dirname;
const root = join(here, '..', '..');
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
// Built in a temporary folder and then renamed, so a failed build keeps the previous one.
const fresh = `${dist}.${process.pid}.tmp`;

try {
  const { output } = await build({
    cwd: here,
    input: 'src/index.ts',
    platform: 'neutral',
    output: { file: join(fresh, 'index.js'), format: 'esm' },
  });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(fresh, NOTICES), noticesText(bundledIn(modules)));
  declareIn(fresh);
  writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
console.log(`built ${dist}`);

/** The declarations of the sources; `published.d.ts`, which needs no other package, replaces those of operations. */
function declareIn(folder: string): void {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', join(here, 'tsconfig.build.json'), '--outDir', folder], { stdio: 'inherit' });
  renameSync(join(folder, 'published.d.ts'), join(folder, 'operations.d.ts'));
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), text.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'"));
  }
}

function manifest(): Manifest {
  const {
    exports: _exports,
    devDependencies: _bundled,
    ...own
  } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as Manifest;
  const version = readFileSync(join(root, 'version.txt'), 'utf8').trim();
  return {
    ...own,
    // The scope @svc is only the one of this repository.
    name: 'svc-monitor-client',
    version,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts', NOTICES],
  };
}
