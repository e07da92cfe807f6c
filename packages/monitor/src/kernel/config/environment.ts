// The machine's settings: where files are and which port is used. Each knows the variable it came from.
import { join, resolve } from 'node:path';
import { Failure } from '../failure.ts';
import type { Environment } from './resolved-value.ts';

type Setting = { variable: string; value: string; fromEnvironment: boolean; description: string };

export type Machine = {
  home: string;
  configDir: string;
  dataDir: string;
  eventsDir: string;
  runsDir: string;
  commsDir: string;
  databaseFile: string;
  pluginCacheRoot: string;
  /** The file with the version; without it the version of the build is used. */
  versionFile: string | undefined;
  locksDir: string;
  spoolDir: string;
  port: number;
  trackerApiUrl: string;
  relayUrl: string;
  /** How long the run loop waits for each kind of event; `timingsOf` reads it. */
  timings: string;
  settings: Setting[];
};

export function readMachine(environment: Environment, home: string): Machine {
  const settings: Setting[] = [];
  const setting = (variable: string, fallback: string, description: string): string => {
    const given = environment[variable];
    const fromEnvironment = given !== undefined && given !== '';
    const value = fromEnvironment ? given : fallback;
    settings.push({ variable, value, fromEnvironment, description });
    return value;
  };
  const path = (variable: string, fallback: string, description: string): string =>
    expandHome(setting(variable, fallback, description), home);

  const dataDir = path('SVC_DATA_DIR', join(home, 'svc'), 'Data root');
  return {
    home,
    dataDir,
    configDir: path('SVC_CONFIG_DIR', join(home, '.config', 'svc'), 'Folder of the global and secrets files'),
    eventsDir: path('SVC_EVENTS_DIR', join(dataDir, 'events'), 'Folder of the event log'),
    runsDir: path('SVC_RUNS_DIR', join(dataDir, 'runs'), 'Folder of runs and signal files'),
    commsDir: path('SVC_COMMS_DIR', join(dataDir, 'comms', 'channels'), 'Folder of agent channels'),
    databaseFile: path('SVC_DB_FILE', join(dataDir, 'svc.db'), 'SQLite index'),
    pluginCacheRoot: path(
      'SVC_PLUGIN_CACHE_ROOT',
      join(home, '.claude', 'plugins', 'cache', 'svc', 'svc-dev'),
      'Installed plugin versions, for version drift',
    ),
    versionFile: path('SVC_VERSION_FILE', '', 'Version file; bin/svc names the one beside it') || undefined,
    locksDir: join(dataDir, 'locks'),
    spoolDir: join(dataDir, 'spool'),
    port: portFrom(setting('SVC_MONITOR_PORT', '7400', 'Port of the daemon')),
    relayUrl: apiUrlFrom(
      'SVC_RELAY_URL',
      setting('SVC_RELAY_URL', 'https://smee.io', 'Relay that svc setup-webhooks makes channels at'),
    ),
    trackerApiUrl: apiUrlFrom(
      'SVC_TRACKER_API_URL',
      setting('SVC_TRACKER_API_URL', 'https://api.linear.app/graphql', 'GraphQL API of the issue tracker'),
    ),
    timings: setting(
      'SVC_ORCHESTRATE_TIMINGS',
      '',
      'For tests of runs: JSON of revivalDelaysSec, settleSec, claimSec, afterEndSec, agentAnswerSec and journalBytes',
    ),
    settings,
  };
}

/**
 * The variables by which another process finds the same daemon and files, if this process was given them: as absolute
 * paths, because the other process may run in another folder.
 */
export function locationVariables({ settings, ...machine }: Machine): Record<string, string> {
  const paths = {
    SVC_DATA_DIR: machine.dataDir,
    SVC_CONFIG_DIR: machine.configDir,
    SVC_EVENTS_DIR: machine.eventsDir,
    SVC_RUNS_DIR: machine.runsDir,
    SVC_COMMS_DIR: machine.commsDir,
    SVC_DB_FILE: machine.databaseFile,
  };
  const all: Record<string, string> = { SVC_MONITOR_PORT: String(machine.port) };
  for (const [variable, path] of Object.entries(paths)) all[variable] = resolve(path);
  const given = new Set(settings.filter((one) => one.fromEnvironment).map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(all).filter(([variable]) => given.has(variable)));
}

/** Expands `~` and `~/…` as a shell does. */
function expandHome(path: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

function portFrom(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Failure(
    'usage',
    `SVC_MONITOR_PORT must be a port number from 0 to 65535, found ${JSON.stringify(text)}.`,
  );
}

/** A token is sent to this address, so it must be encrypted or stay on this machine. */
function apiUrlFrom(variable: string, text: string): string {
  const url = URL.parse(text);
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return text;
  throw new Failure(
    'usage',
    `${variable} must be an https URL, or http on this machine, found ${JSON.stringify(text)}.`,
  );
}
