// The answer of `svc monitor status`: the specification's fields first, in its order, then ours.
import type { Machine } from '../config/environment.ts';
import type { FoundDaemon } from './find-daemon.ts';
import { logFileOf } from './log-file.ts';
import { type Drift, measureDrift } from './version-drift.ts';

export type StatusReport = {
  /** True only if the daemon has answered and proved its identity: the URL can be used. `state` is the reason if false. */
  running: boolean;
  pid: number | null;
  port: number;
  url: string;
} & Drift & {
    state: FoundDaemon['state'];
    startedAt: string | null;
    instance: string | null;
    dataDir: string;
    logFile: string;
  };

export async function reportStatus(
  found: FoundDaemon,
  machine: Machine,
  ownVersion: string,
): Promise<StatusReport> {
  const { pid, port, url, version, startedAt, instance } = knownOf(found);
  return {
    running: found.state === 'running',
    pid: pid ?? null,
    port: port ?? machine.port,
    url: url ?? `http://127.0.0.1:${machine.port}`,
    ...(await measureDrift(version ?? ownVersion, machine.pluginCacheRoot)),
    state: found.state,
    startedAt: startedAt ?? null,
    instance: instance ?? null,
    dataDir: machine.dataDir,
    logFile: logFileOf(machine.dataDir),
  };
}

type Known = Partial<Extract<FoundDaemon, { state: 'running' }>['daemon']>;

function knownOf(found: FoundDaemon): Known {
  if (found.state === 'running') return found.daemon;
  return 'record' in found ? found.record : {};
}
