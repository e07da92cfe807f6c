// Shows that a feature is a place: copies the tree, deletes the feature's folder with its screens and tests, and its line in
// the list; then type-checks product, page and end-to-end tests, and runs those of the spine against that copy's daemon.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
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
const PAGE = 'packages/dashboard/dist';

/** False if something outside of the folder refers to the feature, or a test of the spine fails. */
export async function worksWithout(feature: string): Promise<boolean> {
  const started = performance.now();
  const works = await inCopy(async (copy, run) => {
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
    return (await run('node', 'packages/monitor/write-features.ts')) && (await stillWorks(copy, run));
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    works
      ? `without ${feature}: ok in ${seconds} s, edits outside of its folders: 1 line`
      : `without ${feature}: FAILED, see above what refers to it`,
  );
  return works;
}

type Run = (program: string, ...args: string[]) => Promise<boolean>;

async function stillWorks(copy: string, run: Run): Promise<boolean> {
  for (const folder of ['', 'packages/dashboard/']) writeWithoutTests(join(copy, folder));
  return (
    (await run('tsc', '--noEmit', '-p', 'tsconfig.without.json')) &&
    (await run('tsc', '--noEmit', '-p', 'packages/dashboard/tsconfig.without.json')) &&
    (await run(
      'node',
      'packages/monitor/build.ts',
      ...(existsSync(join(copy, PAGE)) ? ['--program-only'] : []),
    )) &&
    (await run('vitest', 'run', '--project', 'e2e', ...spine.map((name) => `${tests}/${name}.test.ts`)))
  );
}

/** A copy of the tree, and what runs a program in it. Removes the copy also when it is ended by a signal. */
async function inCopy<T>(use: (copy: string, run: Run) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'svc-without-'));
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
  const run: Run = async (program, ...args) => {
    if (ended.signal.aborted) return false;
    const child = spawn(program, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = (): unknown => child.kill();
    ended.signal.addEventListener('abort', end);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = await once(child, 'close');
    ended.signal.removeEventListener('abort', end);
    if (code !== 0) console.error(output.slice(-20_000));
    return code === 0;
  };
  try {
    copyTree(copy);
    return await use(copy, run);
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
    if (ended.signal.aborted) process.exit(1);
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

/** What git knows or would take; installed packages and the built page as links, packages of the workspace into the copy. */
function copyTree(copy: string): void {
  const known = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of known.split('\0')) {
    const found = path === '' ? undefined : lstatSync(join(root, path), { throwIfNoEntry: false });
    if (found === undefined) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(join(root, path)), join(copy, path));
    else copyFileSync(join(root, path), join(copy, path));
  }
  linkModules(join(root, 'node_modules'), join(copy, 'node_modules'));
  if (existsSync(join(root, PAGE))) symlinkSync(join(root, PAGE), join(copy, PAGE));
}

function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (name === '@svc') linkModules(path, join(to, name));
    else symlinkSync(lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path, join(to, name));
  }
}
