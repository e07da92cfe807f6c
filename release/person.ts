// A person who has nothing of ours yet: an empty home, an empty project, a temporary folder, and one Node. Their
// folders have spaces in their names, because people's folders do.
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

export type Person = {
  folder: string;
  home: string;
  temporary: string;
  project: string;
  /** For npm: the registry, the proxy and the cache of whoever runs this. */
  npmEnvironment: NodeJS.ProcessEnv;
  /** For svc: nothing of this machine but where programs are. */
  environment: NodeJS.ProcessEnv;
  npmCache: string;
  remove: () => void;
};

/** `node`: path of the Node that is the first in their PATH. `freshCache`: npm has loaded nothing before. */
export async function createPerson(node: string, { freshCache = false } = {}): Promise<Person> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc first minute ')));
  const [bin, home, temporary, project] = ['bin', 'home', 'tmp', 'my project'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [bin, home, temporary, project]) mkdirSync(path);
  symlinkSync(realpathSync(node), join(bin, 'node'));
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  // Without the programs of this repository: `svc` would be among them.
  const rest = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.startsWith(root));
  const PATH = [bin, ...rest].join(delimiter);
  const cache = freshCache ? { npm_config_cache: join(folder, 'npm cache') } : {};
  const npmEnvironment = { ...ownEnvironment(), PATH, ...cache };
  const { stdout } = await mustRun('npm', ['config', 'get', 'cache'], { cwd: project, env: npmEnvironment });
  const npmCache = stdout.trim();
  const environment = {
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

/** Files that svc has left in the home or the temporary folder. What Node compiled stays there for the next time. */
export function filesLeft({ home, temporary }: Person): string[] {
  const ofNode = new Set(['node-compile-cache']);
  return [home, temporary].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => !ofNode.has(name))
      .map((name) => join(folder, name)),
  );
}

/** Processes that run in the person's folders or name them. Known on Linux alone. */
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
        // It ended while it was looked at, or is somebody else's.
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
