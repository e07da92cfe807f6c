// Which nats-server tests, chaos and benches start, and its configuration file as the relay wants it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WAIT_MS } from '../waiting.ts';

const fetched = join(import.meta.dirname, '../../../../.cache/nats-server/usr/sbin/nats-server');

/** The one that `NATS_SERVER` names, else the one that `.ci/nats-server` has fetched, else the installed one. */
export const natsProgram: string =
  process.env['NATS_SERVER'] ?? (existsSync(fetched) ? fetched : 'nats-server');
/** A path in which that program is the first of its name; Debian's folder for it is not in everybody's. */
export const natsPath = (): string =>
  [...(natsProgram.includes('/') ? [dirname(natsProgram)] : []), process.env['PATH'], '/usr/sbin'].join(':');

export type NatsSettings = {
  /** The largest message; the server's own default is 1 MiB. */
  maxPayload?: number;
  /** Every write synced before it is acknowledged. */
  syncAlways?: boolean;
  /** Clients are not told of the other nodes: needed where they come through a proxy. */
  quietAboutPeers?: boolean;
  /** Where the stores lie, a folder for each node; without it they lie beside the configuration, and go with it. */
  storesIn?: string;
};

export type NatsMember = { port: number; monitorPort: number; routePort: number };

/** The text of the file. `peers` holds all nodes of the cluster; one alone makes no cluster. */
export function natsConfiguration(given: {
  name: string;
  member: NatsMember;
  peers: readonly NatsMember[];
  storeFolder: string;
  settings: NatsSettings;
}): string {
  const { name, member, peers, storeFolder, settings } = given;
  const jetStream = [`store_dir: "${storeFolder}"`, 'max_file_store: 64GB', 'max_memory_store: 64MB'];
  if (settings.syncAlways === true) jetStream.push('sync_interval: always');
  const lines = [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${member.port}"`,
    `http: "127.0.0.1:${member.monitorPort}"`,
    ...(settings.maxPayload === undefined ? [] : [`max_payload: ${settings.maxPayload}`]),
    // The least that the server allows.
    'lame_duck_duration: 30s',
    'lame_duck_grace_period: 1s',
    `jetstream {\n  ${jetStream.join('\n  ')}\n}`,
  ];
  if (peers.length > 1) {
    const routes = peers.map(({ routePort }) => `"nats-route://127.0.0.1:${routePort}"`).join(', ');
    const quiet = settings.quietAboutPeers === true ? '\n  no_advertise: true' : '';
    lines.push(
      `cluster {\n  name: svc-test\n  listen: "127.0.0.1:${member.routePort}"\n  routes: [${routes}]${quiet}\n}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** `2.15.1`, or the reason in words why there is none. */
export function natsServerVersion(): { ok: true; version: string } | { ok: false; problem: string } {
  const { stdout, error } = spawnSync(natsProgram, ['--version'], {
    encoding: 'utf8',
    timeout: WAIT_MS,
    env: { PATH: natsPath() },
  });
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
  if (version !== undefined) return { ok: true, version };
  const why = error?.message ?? 'it does not tell its version';
  return { ok: false, problem: `nats-server: ${why} (run .ci/nats-server to get one)` };
}
