// Where a damaged file is shown, by who owns it: in `GET /api/health`, which the doctor judges too. Each kind of file that
// nothing has to be shown of has its reason here.
import { basename, join } from 'node:path';
import type { Damage } from './damages.ts';
import type { FilesWorld, Health } from './world.ts';

type Naming = ((health: Health) => boolean) | { because: string };

/** The files that health names as they are: configuration with an error, and workers' files. */
export function namedFiles({ configuration, signals }: Health): Set<string> {
  return new Set([
    ...configuration.problems.filter(({ severity }) => severity === 'error').map(({ file }) => file),
    ...(signals?.corruptFiles ?? []),
    ...(signals?.ignoredFiles ?? []),
    ...(signals?.why === undefined ? [] : [signals.why]),
  ]);
}

/** `isLive`: it was damaged while the daemon ran; otherwise while none did. */
export function namingOf(world: FilesWorld, { file, kind }: Damage, isLive: boolean): Naming {
  const { home, configDir, runsDir, globalFile, projects, laxProject, projectFile } = world;
  const isNamed = (health: Health): boolean => namedFiles(health).has(file);
  const project = [...projects, laxProject].find(({ folder }) => file === projectFile(folder));
  // Without the older file, the newer one is missing.
  if (project !== undefined)
    return (health) =>
      [file, project.folder, join(project.folder, '.svc/config.json')].some((path) =>
        namedFiles(health).has(path),
      );
  if (file === globalFile) return isNamed;
  if (file === join(configDir, 'team.json'))
    return isLive || kind === 'removed'
      ? { because: 'it is read by a start; a machine without it is in no team' }
      : (health) => health.team?.why?.includes(file) === true;
  if (file.startsWith(`${join(configDir, 'team.json')}.`))
    return { because: 'it is read when the newer one cannot be' };
  if (file === world.secretFile)
    return {
      because: 'it is read by `svc monitor start`; the doctor, which is asked after the damage, names it',
    };
  if (file.startsWith(configDir))
    return kind === 'removed' ? { because: 'a project may have no secrets' } : isNamed;
  if (file.startsWith(join(runsDir, 'run1/workers/output')))
    return {
      because: 'it is read when somebody looks at the conversation, which is asked for after the damage',
    };
  if (file.startsWith(runsDir))
    return kind === 'removed' ? { because: 'the board shows the worker as removed' } : isNamed;
  if (file.startsWith(join(home.dataDir, 'events'))) return ofLog(file, kind, isLive);
  return ofDaemon(basename(file), kind, isLive);
}

function ofLog(file: string, kind: string, isLive: boolean): Naming {
  if (file.includes('quarantine'))
    return { because: 'what was set aside is for a person, and is not read again' };
  if (isLive && (kind === 'one byte' || kind === 'no permission'))
    return { because: 'what was written is read again only when it is asked for, and by the next start' };
  return ({ log }) => log.state === 'degraded' || log.corruptLines > 0 || log.notices.length > 0;
}

/** Damages that change the content or the permissions of a file, and leave the file itself in its place. */
const keepsFile: ReadonlySet<string> = new Set([
  'emptied',
  'cut',
  'random bytes',
  'one byte',
  'another type',
  'nested deeply',
  'too large',
  'no permission',
]);

/** Files of the data root that svc alone writes. */
function ofDaemon(name: string, kind: string, isLive: boolean): Naming {
  const isReplaced = !keepsFile.has(kind);
  const isNoticed =
    (notice: string) =>
    ({ log }: Health): boolean =>
      log.notices.some(({ kind: of }) => of === notice);
  if (/-(?:wal|shm)$/.test(name) || name.includes('.damaged-'))
    return { because: 'SQLite ignores what is not its own, and the log has everything that matters' };
  if (name === 'daemon.json') return { because: 'a hint, which every start writes' };
  if (name === 'daemon.lock')
    return isLive && isReplaced
      ? ({ dataRoot }) => dataRoot.why?.includes(name) === true
      : {
          because:
            'its content is not read by the daemon that holds it; a start that cannot use it is refused',
        };
  if (name === 'last-good-config.json')
    return {
      because: 'it is written again at once; the policy is in the log. If that fails, health names it',
    };
  if (name === 'format.json')
    return { because: 'it is read by a start, which is refused, or writes one that is missing' };
  if (name === 'host-id') {
    if (isLive) return { because: 'it is read by a start' };
    return kind === 'removed' || kind === 'link to nothing'
      ? { because: 'a machine without an id gets one: this is how a copy gets its own (docs/guide/data.md)' }
      : isNoticed('host-id-set-aside');
  }
  if (name === 'svc.db') {
    if (isLive && isReplaced)
      return { because: 'the daemon has the file open, and works with it until its end' };
    if (isLive && (kind === 'emptied' || kind === 'random bytes'))
      return ({ log }) => log?.why?.includes(name) === true;
    if (isLive)
      return kind === 'too large' || kind === 'no permission'
        ? { because: 'SQLite reads only its own pages, and has the file open' }
        : // What the write-ahead log still has is not read from the file.
          {
            because: 'it is named when a page is read from it: damaged-files.test.ts of packages/monitor/e2e',
          };
    return ['removed', 'emptied', 'too large'].includes(kind)
      ? { because: 'an empty one is built again from the log, and SQLite reads only its own pages' }
      : isNoticed('database-set-aside');
  }
  const because = lookedAtLater[name];
  return { because: because ?? `${name} is not read by the daemon` };
}

/** Files that are read when somebody asks for what they hold. */
const lookedAtLater: Readonly<Record<string, string>> = {
  'manifest.json': 'it is read when somebody looks at the archive, which is asked for after the damage',
  'hook-token': 'it is read with each report of a hook, which is sent after the damage',
  'retention-due.json': 'without it what is too old is removed a day later',
  'hook-secrets.json': 'without it each hook is updated once more',
  'agent-hooks.json': 'only `svc hooks` reads it',
};
