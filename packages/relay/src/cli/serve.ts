// `svc-relay serve`: the relay process, from settings to its end. It has no state of its own apart from the spill, so any
// number of them can run on the same NATS.
import { rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '@svc/lib/errors';
import { createByteBudget } from '@svc/lib/read-body';
import pino from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import { openSpill, type Spill } from '../channels/spill.ts';
import { createEngine } from '../engine/create-engine.ts';
import type { Engine } from '../engine/engine.ts';
import { createMetrics } from '../http/metrics.ts';
import { hashOfKey } from '../http/read-access.ts';
import { createLogger, type Logger } from '../http/relay-parts.ts';
import { createRelayServer, type RelayServer } from '../http/server.ts';
import { createLimits, type Limits, noLimits, type Rate } from '../limits/limits.ts';
import { provision } from '../provision/provision.ts';
import { Failure, withEngine } from './failure.ts';
import {
  type Environment,
  type natsSettings,
  readSecretFile,
  readTextFile,
  type serveSettings,
  type Values,
} from './settings.ts';
import { type Terminal, VERSION } from './terminal.ts';

type Settings = Values<typeof serveSettings> & Values<typeof natsSettings>;

const POSTS_END_WITHIN_MS = 6_000;
const SPILL_ENDS_WITHIN_MS = 2_000;
const SHORTEST_KEY = 16;
const LEAST_BURST_BYTES = 100 * 1024 * 1024;

export async function serve(terminal: Terminal, settings: Settings): Promise<void> {
  const nats = natsOptions(settings, terminal.environment);
  const createKeyHash = createKey(settings);
  const logger = createLogger(pino.destination({ fd: 1, sync: true }), settings.logLevel);
  const engine = await withEngine(async () => {
    if (settings.provision) await provision({ nats, prefix: settings.prefix });
    return createEngine({ nats, prefix: settings.prefix });
  }, settings.nats);
  let spill: Spill | null = null;
  try {
    spill = await spillOf(settings, engine, logger);
    const metrics = createMetrics();
    // Node's own figures; what collects them cannot be stopped, so they are not part of `createMetrics`.
    collectDefaultMetrics({ register: metrics.registry });
    const server = createRelayServer({
      engine,
      spill,
      limits: limitsOf(settings),
      settings: {
        version: VERSION,
        publicUrl: settings.publicUrl === '' ? null : settings.publicUrl,
        openChannels: settings.openChannels,
        pingSeconds: settings.ping,
        stallMs: settings.stall * 1000,
        maxUnsentBytes: settings.maxUnsent,
        trustedProxies: settings.trustedProxies,
        allowedSenders: settings.allowedSenders.any ? settings.allowedSenders : null,
        createKeyHash,
      },
      logger,
      metrics,
      budget: createByteBudget(settings.maxUnderWay),
      now: Date.now,
    });
    await listenUntilStopped(terminal, settings, server, engine, logger);
  } finally {
    await spill?.close(SPILL_ENDS_WITHIN_MS);
    await engine.close();
  }
}

async function spillOf({ spill, maxSpill }: Settings, engine: Engine, logger: Logger): Promise<Spill | null> {
  if (spill === '') return null;
  try {
    return await openSpill({ folder: spill, maxBytes: maxSpill, engine, logger });
  } catch (error) {
    const why = messageOf(error);
    throw new Failure(
      'file-unusable',
      `The relay cannot hold deliveries in ${spill}: ${why}.`,
      'Use a writable folder that no other relay uses: --spill <folder>',
      { cause: error },
    );
  }
}

async function listenUntilStopped(
  terminal: Terminal,
  settings: Settings,
  server: RelayServer,
  engine: Engine,
  logger: Logger,
): Promise<void> {
  const port = await listen(server, settings);
  if (settings.portFile !== '') writeFileSync(settings.portFile, JSON.stringify({ pid: process.pid, port }));
  logger.info(
    { version: VERSION, host: settings.host, port, engine: engine.health().server },
    'svc-relay is listening',
  );
  for (const warning of await engine.serverWarnings()) logger.warn({ warning }, 'check the settings of NATS');
  const why = await terminal.stopped;
  logger.info({ why, subscribers: server.subscribers() }, 'svc-relay is stopping');
  if (settings.portFile !== '') rmSync(settings.portFile, { force: true });
  await server.close(POSTS_END_WITHIN_MS);
  logger.info('svc-relay has stopped');
}

async function listen(server: RelayServer, { port, host }: Settings): Promise<number> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    const why = messageOf(error);
    throw new Failure(
      'cannot-listen',
      `The relay cannot listen on ${host}:${port}: ${why}.`,
      'Choose another: --port <number>, --host <address>',
      { cause: error },
    );
  }
}

function limitsOf(settings: Settings): Limits {
  if (settings.noLimits) return noLimits;
  return createLimits({
    channel: { perSecond: settings.channelRate, burst: settings.channelBurst },
    channelBytes: byteRate(settings.channelBytes),
    address: { perSecond: settings.addressRate, burst: settings.addressBurst },
    addressBytes: byteRate(settings.addressBytes),
    newChannels: { perSecond: settings.newPerHour / 3600, burst: settings.newPerHour },
    subscribersPerChannel: settings.subscribersPerChannel,
    subscribersPerAddress: settings.subscribersPerAddress,
    subscribers: settings.subscribers,
  });
}

/** A burst is ten seconds of the rate, and always enough for the largest body. */
function byteRate(perSecond: number): Rate {
  return { perSecond, burst: Math.max(LEAST_BURST_BYTES, 10 * perSecond) };
}

function createKey({ createKeyFile }: Settings): string | null {
  if (createKeyFile === '') return null;
  const key = readSecretFile(createKeyFile, 'create key');
  if (key.length < SHORTEST_KEY || /\s/.test(key))
    throw new Failure(
      'settings-invalid',
      `The key in ${createKeyFile} is too short, or has spaces.`,
      'Create one: openssl rand -hex 32',
    );
  return hashOfKey(key);
}

// How to connect to NATS, from settings and environment. User, password and token come only from the environment.

export type NatsOptions = {
  servers: string[];
  name: string;
  user?: string;
  password?: string;
  token?: string;
  credentials?: string;
  tls?: { ca?: string };
};

export function natsOptions(settings: Values<typeof natsSettings>, environment: Environment): NatsOptions {
  const user = environment['SVC_RELAY_NATS_USER'];
  const password = environment['SVC_RELAY_NATS_PASSWORD'];
  const token = environment['SVC_RELAY_NATS_TOKEN'];
  const ways = [user, token, settings.credentialsFile || undefined].filter((way) => way !== undefined);
  if (ways.length > 1)
    throw new Failure(
      'settings-invalid',
      'More than one NATS login is set: a user, a token or a credentials file.',
      'Set only one of SVC_RELAY_NATS_USER, SVC_RELAY_NATS_TOKEN and SVC_RELAY_NATS_CREDENTIALS.',
    );
  return {
    servers: settings.nats,
    name: 'svc-relay',
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(settings.credentialsFile !== '' && {
      credentials: readSecretFile(settings.credentialsFile, 'NATS credentials file'),
    }),
    ...(settings.ca !== '' && { tls: { ca: readTextFile(settings.ca, 'NATS certificate authority') } }),
  };
}
