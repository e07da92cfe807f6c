// Relay processes on a real nats-server, for one test. Every process is ended with the test, by its pid.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type NatsServer, type NatsSettings, natsForTest, relayProgram, temporaryFolder } from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { type ServerProcess, startServer } from '../../testkit/src/daemon/server-process.ts';
import { type MadeChannel, makeChannel } from '../src/http/testing/relay-for-test.ts';
import { provision } from '../src/provision/provision.ts';

export type Relay = { url: string; port: number; process: ServerProcess };

export type World = {
  nats: NatsServer;
  folder: string;
  startRelay: (...words: string[]) => Promise<Relay>;
};

/** `words` are arguments for `svc-relay provision`, which then changes the streams. */
export async function relayWorld({
  words = [],
  nats: settings = {},
}: {
  words?: readonly string[];
  nats?: NatsSettings;
} = {}): Promise<World> {
  const nats = await natsForTest(settings);
  const folder = temporaryFolder();
  await provision({ nats: { servers: [nats.url] }, shards: 4 });
  const made =
    words.length === 0 ? undefined : await runRelay(['provision', ...words], { SVC_RELAY_NATS: nats.url });
  if (made !== undefined && made.code !== 0)
    throw new Error(`provision ended with ${made.code}: ${made.err}`);
  let started = 0;
  return {
    nats,
    folder,
    async startRelay(...serveWords) {
      started += 1;
      const announcedIn = join(folder, `relay-${started}.json`);
      const server = startServer({
        command: [relayProgram, 'serve', '--port', '0', '--port-file', announcedIn, ...serveWords],
        environment: { HOME: folder, SVC_RELAY_NATS: nats.url, SVC_RELAY_LOG_LEVEL: 'warn' },
        folder,
        announcedIn,
        output: join(folder, `relay-${started}.log`),
      });
      onTestFinished(() => server.kill());
      const { port } = await server.ready;
      return { url: `http://127.0.0.1:${port}`, port, process: server };
    },
  };
}

export type Ended = { code: number | null; out: string; err: string; milliseconds: number };

/** Runs the command to its end. */
export function runRelay(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, [relayProgram, ...words], {
      env: { PATH: process.env['PATH'], HOME: temporaryFolder(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (err += part.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err, milliseconds: performance.now() - began }));
  });
}

export function newChannel(relay: Relay, wish: object = {}): Promise<MadeChannel> {
  return makeChannel(relay.url, wish);
}

/** The same channel at another relay process. */
export function at(relay: Relay, channelUrl: string): string {
  return relay.url + new URL(channelUrl).pathname;
}
