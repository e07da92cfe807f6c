// The configuration file of a nats-server as the relay wants it, as far as the installed server knows it.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WAIT_MS } from '../waiting.ts';

/** Of Debian's package of that name; its folder is not in everybody's path. */
export const natsProgram = 'nats-server';
export const natsPath = (): string => `${process.env['PATH']}:/usr/sbin`;

export type NatsSettings = {
  /** The largest message; the server's own default is 1 MiB. */
  maxPayload?: number;
  /** Every write synced before it is acknowledged. Servers before 2.10 cannot; then it is left out. */
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

/** `2.9.10`, or the reason in words why there is none. */
export function natsServerVersion(): { ok: true; version: string } | { ok: false; problem: string } {
  const { stdout, error } = run(['--version']);
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
  if (version !== undefined) return { ok: true, version };
  const why = error?.message ?? 'it does not tell its version';
  return { ok: false, problem: `nats-server: ${why} (needed: apt-get install nats-server)` };
}

/** Asks the server itself, by its own test of a configuration. */
export function knowsSyncAlways(folder: string): boolean {
  const file = join(folder, 'sync-always.conf');
  writeFileSync(file, 'jetstream { sync_interval: always }\n');
  const { status } = run(['-t', '-c', file]);
  rmSync(file);
  return status === 0;
}

function run(words: readonly string[]) {
  return spawnSync(natsProgram, words, {
    encoding: 'utf8',
    timeout: WAIT_MS,
    env: { PATH: natsPath() },
  });
}
