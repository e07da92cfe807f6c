// A new user's machine: an empty home, an empty project, a temporary folder, and one Node. The folders have spaces in
// their names, because real ones do.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { mustRun, ownEnvironment } from './run-command.ts';
import { root } from './versions.ts';

export type Person = Awaited<ReturnType<typeof createPerson>>;

/** `node`: path of the Node that comes first on the PATH. `freshCache`: with an empty npm cache. */
export async function createPerson(node: string, { freshCache = false } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc first minute ')));
  const [bin, home, temporary, project] = ['bin', 'home', 'tmp', 'my project'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [bin, home, temporary, project]) mkdirSync(path);
  symlinkSync(realpathSync(node), join(bin, 'node'));
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  // Without the programs of this repository, which include `svc`.
  const rest = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.startsWith(root));
  const PATH = [bin, ...rest].join(delimiter);
  const cache = freshCache ? { npm_config_cache: join(folder, 'npm cache') } : {};
  /** For npm: the registry, the proxy and the cache of the current user. */
  const npmEnvironment: NodeJS.ProcessEnv = { ...ownEnvironment(), PATH, ...cache };
  const { stdout } = await mustRun('npm', ['config', 'get', 'cache'], { cwd: project, env: npmEnvironment });
  const npmCache = stdout.trim();
  /** For svc: only the PATH of this machine. */
  const environment: NodeJS.ProcessEnv = {
    HOME: home,
    PATH,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    npm_config_cache: npmCache,
    npm_config_update_notifier: 'false',
  };
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { folder, home, temporary, project, npmEnvironment, environment, npmCache, remove };
}

/** Files that svc has left in the home or the temporary folder, except for Node's compile cache. */
export function filesLeft({ home, temporary }: Person): string[] {
  const ofNode = new Set(['node-compile-cache']);
  return [home, temporary].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => !ofNode.has(name))
      .map((name) => join(folder, name)),
  );
}

/** Processes that run in these folders or have them in their arguments. Linux only. */
export function processesLeft({ folder }: Person): { pid: number; words: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        const isOurs = words.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
        return isOurs ? [{ pid: Number(pid), words }] : [];
      } catch (error) {
        // It ended during the check, or belongs to another user.
        if (
          error instanceof Error &&
          'code' in error &&
          ['ENOENT', 'ESRCH', 'EACCES'].includes(String(error.code))
        )
          return [];
        throw error;
      }
    });
}
