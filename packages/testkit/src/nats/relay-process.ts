// The real relay, `svc-relay serve`, as a process on a loopback port, for chaos and benches.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../daemon/server-process.ts';
import { until, WAIT_MS } from '../waiting.ts';

const repository = join(import.meta.dirname, '../../../..');
const bundle = join(repository, 'packages/relay/dist/svc-relay.js');
const source = join(repository, 'packages/relay/src/cli/start.ts');

export type RelayProcess = ServerProcess & { url: string; port: number };

export type RelayChannel = { channel: string; writeUrl: string; readUrl: string; readKey: string | null };

export type RelayProcessOptions = {
  /** The folder for its announcement and its output; several relays may share it. */
  folder: string;
  name: string;
  natsUrls: readonly string[];
  /** 0: any free port. A relay that has to restart under the same address needs a fixed one. */
  port?: number;
  /** Seconds between two heartbeats of a stream. */
  pingSeconds?: number;
  /** More arguments for `serve`, such as `--provision`. */
  words?: readonly string[];
  environment?: Record<string, string>;
  nodeOptions?: readonly string[];
};

/** Resolves when it can accept deliveries: it listens and the engine answers. */
export async function startRelay(options: RelayProcessOptions): Promise<RelayProcess> {
  const { folder, name, natsUrls, port = 0, pingSeconds = 30 } = options;
  mkdirSync(folder, { recursive: true });
  const announcedIn = join(folder, `${name}.json`);
  // The shipped bundle, if it was built.
  const program = existsSync(bundle) ? bundle : source;
  const server = startServer({
    command: [
      // As its launchers start it.
      '--max-semi-space-size=16',
      ...(options.nodeOptions ?? []),
      program,
      'serve',
      '--port',
      String(port),
      '--port-file',
      announcedIn,
      '--ping',
      String(pingSeconds),
      ...(options.words ?? []),
    ],
    environment: {
      HOME: folder,
      SVC_RELAY_NATS: natsUrls.join(','),
      SVC_RELAY_LOG_LEVEL: 'warn',
      ...options.environment,
    },
    folder,
    announcedIn,
    output: join(folder, `${name}.log`),
  });
  const announced = await server.ready;
  const url = `http://127.0.0.1:${announced.port}`;
  try {
    await until(() => isReady(url));
  } catch (error) {
    await server.kill();
    throw error;
  }
  return { ...server, url, port: announced.port };
}

/** A new channel: with a read key, or open to everyone who knows its URL. */
export async function newRelayChannel(url: string, { open = false } = {}): Promise<RelayChannel> {
  const response = await fetch(`${url}/new`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ open }),
    signal: AbortSignal.timeout(WAIT_MS),
  });
  if (response.status !== 201) throw new Error(`no channel: ${response.status} ${await response.text()}`);
  return (await response.json()) as RelayChannel;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    // It has just ended, or is still starting.
    return false;
  }
}
