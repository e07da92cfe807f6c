// The real daemon, as it is shipped: the bundle in dist/, with its own home and its own secrets.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { scriptFolder } from '../script.ts';
import { WAIT_MS } from '../waiting.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const repository = join(import.meta.dirname, '../../../..');
const bundle = join(repository, 'packages/monitor/dist');

/** Secrets of test daemons: they protect nothing. */
export const codehostSecret = '6368616f73'.repeat(6);
export const trackerSecret = '62656e6368'.repeat(6);

export type DaemonHome = {
  home: string;
  dataDir: string;
  eventsDir: string;
  /** The output of all daemons of this home. */
  output: string;
  remove: () => void;
};

/** A folder that is removed with the process; tests use `temporaryFolder`. `from`: the built program. */
export function createDaemonHome(name: string, from: string = bundle): DaemonHome {
  const home = scriptFolder(name);
  const dataDir = join(home, 'data');
  mkdirSync(dataDir);
  copyBundle(from, home);
  return {
    home,
    dataDir,
    eventsDir: join(dataDir, 'events'),
    output: join(home, 'daemon.log'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** `svc monitor run` on a port of the loopback address; `nodeOptions` such as `--cpu-prof`. */
export function startDaemon(
  { home, dataDir, output }: DaemonHome,
  given: {
    port?: number;
    environment?: Record<string, string>;
    nodeOptions?: readonly string[];
    uid?: number;
  } = {},
): ServerProcess {
  return startServer({
    command: [
      '--max-semi-space-size=16',
      ...(given.nodeOptions ?? []),
      join(home, 'dist/svc.js'),
      'monitor',
      'run',
    ],
    environment: {
      HOME: home,
      SVC_DATA_DIR: dataDir,
      SVC_MONITOR_PORT: String(given.port ?? 0),
      SVC_WEBHOOK_SECRET: codehostSecret,
      SVC_TRACKER_WEBHOOK_SECRET: trackerSecret,
      ...given.environment,
    },
    folder: home,
    announcedIn: join(dataDir, 'daemon.json'),
    output,
    ...(given.uid !== undefined && { uid: given.uid }),
  });
}

/** How a command ended, what it wrote to standard output, and all that it printed. */
export type Said = { code: number; out: string; printed: string };

/** The command line of a home, as a user runs it. */
export function runSvc(
  { home, dataDir }: DaemonHome,
  words: readonly string[],
  given: { folder?: string; environment?: Record<string, string> } = {},
): Promise<Said> {
  const environment = { HOME: home, SVC_DATA_DIR: dataDir, ...given.environment };
  return runProgram(join(home, 'dist/svc.js'), words, { folder: given.folder ?? home, environment });
}

/** A program of Node, until it ends. */
export function runProgram(
  program: string,
  words: readonly string[],
  { folder, environment }: { folder: string; environment: Record<string, string> },
): Promise<Said> {
  const options = { cwd: folder, env: { PATH: process.env['PATH'], ...environment }, timeout: WAIT_MS };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], options, (error, out, wrong) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, out, printed: (out + wrong).trim() });
    });
  });
}

/** A copy, so that a build in the meantime does not change what is tested. */
function copyBundle(from: string, home: string): void {
  if (!existsSync(join(from, 'svc.js'))) throw new Error('no bundle; run: npm run build');
  cpSync(from, join(home, 'dist'), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(home, 'node_modules'));
}

// The files that start our programs. From source, so that a change is tested without a build; with TEST_BUILT=1, which
// CI sets after its build, the shipped bundles, which start in less than half the time.

const packages = join(import.meta.dirname, '../../..');
const isBuilt = process.env['TEST_BUILT'] === '1';

export const svcProgram = join(packages, 'monitor', isBuilt ? 'dist/svc.js' : 'src/cli/start.ts');
export const relayProgram = join(packages, 'relay', isBuilt ? 'dist/svc-relay.js' : 'src/cli/start.ts');
