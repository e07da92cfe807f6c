// Shows that a feature is a place: copies the tree, deletes the feature's folder with its screens and tests, and its line in
// the list; then type-checks product, page and end-to-end tests, and runs those of the spine against that copy's daemon.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const tests = 'packages/monitor/e2e';
/** A daemon that starts and stops, deliveries, the log, a ticket that is done by proof, the configuration while it changes. */
const spine = ['daemon-control', 'delivery-path', 'events', 'ticket-phase', 'live-config'];
const LIST = 'packages/monitor/src/features/index.ts';

/** False if something outside of the folder refers to the feature, or a test of the spine fails. */
export function worksWithout(feature: string): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'svc-without-'));
  try {
    copyTree(copy);
    for (const path of [
      `packages/monitor/src/features/${feature}`,
      `packages/dashboard/src/screens/${feature}`,
      ...globSync(`${tests}/${feature}{,-*}.test.ts`, { cwd: root }),
    ])
      rmSync(join(copy, path), { recursive: true, force: true });
    const list = readFileSync(join(copy, LIST), 'utf8');
    const rest = list.replace(`  '${feature}',\n`, '');
    if (rest === list) throw new Error(`${LIST} has no line '${feature}'`);
    writeFileSync(join(copy, LIST), rest);
    const run = (file: string, ...args: string[]): boolean => {
      const { status, stdout, stderr } = spawnSync(file, args, { cwd: copy, encoding: 'utf8' });
      if (status !== 0) console.error(`${stdout}${stderr}`.slice(-20_000));
      return status === 0;
    };
    for (const folder of ['', 'packages/dashboard/']) writeWithoutTests(join(copy, folder));
    const works =
      run(process.execPath, 'packages/monitor/write-features.ts') &&
      run('tsc', '--noEmit', '-p', 'tsconfig.without.json') &&
      run('tsc', '--noEmit', '-p', 'packages/dashboard/tsconfig.without.json') &&
      run(process.execPath, 'packages/monitor/build.ts') &&
      run('vitest', 'run', '--project', 'e2e', ...spine.map((name) => `${tests}/${name}.test.ts`));
    console.log(
      works
        ? `without ${feature}: ok, edits outside of its folders: 1 line`
        : `without ${feature}: FAILED, see above what refers to it`,
    );
    return works;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Tests beside the source may use any feature; so may what is not of the product. */
function writeWithoutTests(folder: string): void {
  const { include, exclude = [] } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')) as {
    include: string[];
    exclude?: string[];
  };
  const typed = {
    extends: './tsconfig.json',
    include: include.filter((path) => /^(?:packages|src|e2e)/.test(path)),
    exclude: [...exclude, '**/src/**/*.test.ts', '**/src/**/testing/**'],
  };
  writeFileSync(join(folder, 'tsconfig.without.json'), JSON.stringify(typed));
}

/** What git knows or would take; installed packages as links, those of the workspace into the copy. */
function copyTree(copy: string): void {
  const known = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of known.split('\0').filter((name) => name !== '' && isThere(join(root, name)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path), { verbatimSymlinks: true });
  }
  linkModules(join(root, 'node_modules'), join(copy, 'node_modules'));
}

function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (name === '@svc') linkModules(path, join(to, name));
    else symlinkSync(lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path, join(to, name));
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
