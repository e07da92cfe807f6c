// One connection to NATS that reconnects forever, and reports since when it is up or down.
import { setTimeout as sleep } from 'node:timers/promises';
import { credsAuthenticator, errors, type NatsConnection } from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import { messageOf } from '@svc/lib/errors';
import { within } from '@svc/lib/timeout';
import { EngineUnavailable, Refused } from './engine.ts';

const CONNECTED_WITHIN_MS = 10_000;
const SETTLE_WITHIN_MS = 500;
const RETRY_MS = 250;
const ALIVE_WITHIN_MS = 1000;
/** Notices a server that falls silent during the handshake. Longer than one takes on a machine that is far too busy. */
const DIAL_WITHIN_MS = 10_000;

export type NatsOptions = {
  servers: readonly string[];
  /** Shown in the server's list of connections. */
  name?: string;
  user?: string;
  password?: string;
  token?: string;
  /** The text of a `.creds` file. */
  credentials?: string;
  /** PEM texts. */
  tls?: { ca?: string; cert?: string; key?: string };
};

export type Connection = {
  nats: NatsConnection;
  state: () => { connected: boolean; server: string; since: number; reason: string | null };
  /** Called after each loss (false) and each return (true). */
  onChange: (listener: (connected: boolean) => void) => void;
  /**
   * Call it when an expected answer does not come. A connection can be dead without being closed, as with a frozen
   * machine or a lost route, and the library's own pings would notice it too late for any sender. So the server is
   * pinged, and if it does not answer, the connection moves to another server.
   */
  checkAlive: () => Promise<void>;
  close: () => Promise<void>;
};

export async function openConnection(options: NatsOptions, purpose: string): Promise<Connection> {
  const nats = await firstConnection(options, purpose);
  const listeners: ((connected: boolean) => void)[] = [];
  let state = { connected: true, since: Date.now(), reason: null as string | null };
  let lastError: string | null = null;
  let isChecking = false;
  let aliveWithinMs = ALIVE_WITHIN_MS;

  function change(connected: boolean, reason: string | null): void {
    if (state.connected === connected) return;
    state = { connected, since: Date.now(), reason };
    for (const listener of listeners) listener(connected);
  }

  void (async () => {
    for await (const status of nats.status()) {
      if (status.type === 'error') lastError = status.error.message;
      else if (status.type === 'disconnect') change(false, lastError ?? 'the connection to NATS was lost');
      else if (status.type === 'close') change(false, 'the connection to NATS is closed');
      else if (status.type === 'reconnect') {
        lastError = null;
        change(true, null);
      }
    }
  })();

  return {
    nats,
    state: () => ({ ...state, server: nats.getServer() }),
    onChange: (listener) => void listeners.push(listener),
    async checkAlive() {
      if (isChecking || !state.connected || nats.isClosed()) return;
      isChecking = true;
      const lives = nats.flush().then(
        () => true,
        () => true,
      );
      const isAlive = await within(lives, aliveWithinMs, () => false);
      // If the next server does not answer either, all of them are slow, and moving on would only make it worse.
      aliveWithinMs = isAlive ? ALIVE_WITHIN_MS : Math.min(2 * aliveWithinMs, DIAL_WITHIN_MS);
      if (!isAlive && state.connected && !nats.isClosed()) await nats.reconnect();
      isChecking = false;
    },
    async close() {
      // The library writes once more when it closes. On a socket that the server has just ended, that would emit an
      // error event without a listener, and end the process. A flush detects that first.
      const flushed = nats.flush().catch(() => undefined);
      await within(flushed, SETTLE_WITHIN_MS, () => undefined);
      await nats.close();
    },
  };
}

/** Waits for a server that is starting; fails at once if the server rejects our login. */
async function firstConnection(options: NatsOptions, purpose: string): Promise<NatsConnection> {
  const end = performance.now() + CONNECTED_WITHIN_MS;
  for (;;) {
    try {
      const nats = await connect(connectOptions(options, purpose));
      try {
        demandVersion(nats.info?.version);
      } catch (error) {
        await nats.close();
        throw error;
      }
      return nats;
    } catch (error) {
      if (error instanceof Refused) throw error;
      const refused = error instanceof errors.AuthorizationError;
      if (refused || performance.now() + RETRY_MS > end) {
        const message = `NATS at ${options.servers.join(', ')} cannot be used: ${messageOf(error)}`;
        throw new EngineUnavailable(message, { cause: error });
      }
      await sleep(RETRY_MS);
    }
  }
}

function connectOptions(options: NatsOptions, purpose: string): NodeConnectionOptions {
  const { servers, name = 'svc-relay', user, password, token, credentials, tls } = options;
  return {
    servers: [...servers],
    name: `${name} ${purpose}`,
    // A stack trace for every request would halve the throughput of a process.
    noAsyncTraces: true,
    timeout: DIAL_WITHIN_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 200,
    pingInterval: 2000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(credentials !== undefined && {
      authenticator: credsAuthenticator(new TextEncoder().encode(credentials)),
    }),
    ...(tls !== undefined && { tls }),
  };
}

// What the relay requires of the NATS servers, and what it can check.

const LEAST = '2.14.6';
const RECOMMENDED = '2.15.1';
/** Every server answers; allowed if the account imports it, as in examples/relay/nats/nats.conf. */
const SETTINGS_OF_ALL = '$SYS.REQ.SERVER.PING.VARZ';
const ANSWERS_WITHIN_MS = 2000;

type Settings = {
  server_name: string;
  version: string;
  cluster?: { name?: string };
  jetstream?: { config?: { sync_always?: boolean } };
};

/** Throws `Refused`. An unreadable version counts as too old. */
export function demandVersion(version: string | undefined): void {
  if (isAtLeast(version, LEAST)) return;
  throw new Refused(
    'server-too-old',
    `the NATS server is ${version ?? 'of an unknown version'}, and ${LEAST} or later is needed: older ones lose acknowledged ` +
      'messages when they compact (nats-server #8475), corrupt compressed blocks (#8312), and let replicas diverge at limits (#8265)',
    `Upgrade it to ${RECOMMENDED} or later.`,
  );
}

/** What an operator should change on the servers, as far as this login may ask. */
export async function serverWarnings(nats: NatsConnection): Promise<string[]> {
  const servers = await settingsOfAll(nats);
  if (nats.info === undefined)
    return [
      'the connection broke, so it is not known whether every server is recent enough and syncs every write: restart the relay to check',
    ];
  const own = { server_name: 'the NATS server', version: nats.info.version };
  const warnings = (servers.length === 0 ? [own] : servers)
    .filter(({ version }) => !isAtLeast(version, RECOMMENDED))
    .map(({ server_name: name, version }) => `${name} is ${version}: ${RECOMMENDED} or later is recommended`);
  if (!isClustered(nats)) return warnings;
  if (servers.length === 0)
    warnings.push(
      `this login cannot check whether every write is synced: check that each server has sync_interval: always, or allow the relay to ask (${SETTINGS_OF_ALL}, as in examples/relay/nats/nats.conf)`,
    );
  const unsynced = servers.filter(({ jetstream }) => jetstream?.config?.sync_always !== true);
  if (unsynced.length > 0)
    warnings.push(
      `sync_interval: always is not set on ${unsynced.map(({ server_name: name }) => name).join(', ')}: a power cut of all servers loses acknowledged deliveries`,
    );
  return warnings;
}

export function isClustered({ info }: NatsConnection): boolean {
  return info?.cluster !== undefined && info.cluster !== '';
}

/** Empty if this login may not ask. */
async function settingsOfAll(nats: NatsConnection): Promise<Settings[]> {
  const found: Settings[] = [];
  try {
    const options = { strategy: 'stall', maxWait: ANSWERS_WITHIN_MS, stall: 500 } as const;
    for await (const message of await nats.requestMany(SETTINGS_OF_ALL, '', options))
      found.push(message.json<{ data: Settings }>().data);
  } catch {
    // No answer, or not allowed: either way it cannot be checked.
    return [];
  }
  return found.filter((settings) => typeof settings?.server_name === 'string');
}

/** A pre-release counts as its version. */
function isAtLeast(version: string | undefined, least: string): boolean {
  const [its, wanted] = [numbersOf(version ?? ''), numbersOf(least)];
  const at = wanted.findIndex((number, index) => (its[index] ?? 0) !== number);
  return at < 0 || (its[at] ?? 0) > (wanted[at] ?? 0);
}

function numbersOf(version: string): number[] {
  return (/^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '0').split('.').map(Number);
}
