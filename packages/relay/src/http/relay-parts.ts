// What every route gets: the engine, the limits and the operator's settings.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget } from '@svc/lib/read-body';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Spill } from '../channels/spill.ts';
import type { Engine } from '../engine/engine.ts';
import { clientAddress, type Limits, limitKey, type Networks } from '../limits/limits.ts';
import type { Metrics } from './metrics.ts';

export type RelaySettings = {
  version: string;
  /** The public address of the relay, without a trailing slash. Null: taken from the request. */
  publicUrl: string | null;
  /** Whether `GET /new` makes channels that anyone with the address can read. */
  openChannels: boolean;
  pingSeconds: number;
  /** A subscriber that reads nothing for this long while data is waiting for it is disconnected. */
  stallMs: number;
  /** The limit of unsent bytes for all subscribers together. */
  maxUnsentBytes: number;
  trustedProxies: Networks;
  /** Null: deliveries are accepted from everywhere. */
  allowedSenders: Networks | null;
  /** The hash of the create key. Null: anyone may make a channel. */
  createKeyHash: string | null;
};

export type RelayParts = {
  engine: Engine;
  /** Null: a delivery that the engine does not store in time is refused. */
  spill: Spill | null;
  limits: Limits;
  settings: RelaySettings;
  logger: Logger;
  metrics: Metrics;
  budget: ByteBudget;
  now: () => number;
};

export function addressOf(request: IncomingMessage, settings: RelaySettings): string {
  return clientAddress(
    request.socket.remoteAddress,
    request.headers['x-forwarded-for'],
    settings.trustedProxies,
  );
}

const limitKeyOfPeer = Symbol('limit key');

/** The key by which the limits count this request. Without trusted proxies it is the same for a whole connection. */
export function limitKeyOf(request: IncomingMessage, settings: RelaySettings): string {
  if (settings.trustedProxies.any) return limitKey(addressOf(request, settings));
  const socket: Socket & { [limitKeyOfPeer]?: string } = request.socket;
  return (socket[limitKeyOfPeer] ??= limitKey(addressOf(request, settings)));
}

export function originOf(request: IncomingMessage, settings: RelaySettings): string {
  const proxied =
    settings.trustedProxies.any && settings.trustedProxies.has(request.socket.remoteAddress ?? '');
  return publicOrigin(request, settings.publicUrl, proxied);
}

export function isEngineUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'engine-unavailable';
}

// The public address of this relay: the operator's setting, else from the request.

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** `https://relay.example`, without a trailing slash. An invalid host is not repeated. */
function publicOrigin(
  request: IncomingMessage,
  publicUrl: string | null,
  behindTrustedProxy: boolean,
): string {
  if (publicUrl !== null) return publicUrl;
  const host = request.headers.host ?? '';
  const safe = hostPattern.test(host) ? host : `127.0.0.1:${request.socket.localPort ?? 80}`;
  const proto = behindTrustedProxy ? request.headers['x-forwarded-proto'] : undefined;
  return `${proto === 'https' ? 'https' : 'http'}://${safe}`;
}

// Structured logs, one JSON object per line, without payloads, keys or channel ids: anyone with a channel's id can send to
// it, so a log line has a short hash instead.

export type { Logger } from 'pino';

export function createLogger(destination: DestinationStream, level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** The same channel has the same name in the logs of every relay process. */
export function channelInLogs(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 10);
}
