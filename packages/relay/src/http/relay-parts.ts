// What every route is given: the engine, the limits and the operator's choices.

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
  /** The address under which the relay is reached, without a slash at the end. Null: as requests name it. */
  publicUrl: string | null;
  /** Whether `GET /new` makes channels that anybody who knows the address can read. */
  openChannels: boolean;
  pingSeconds: number;
  /** A subscriber that takes nothing for so long, although something waits for it, is disconnected. */
  stallMs: number;
  /** What may wait for all subscribers together. */
  maxUnsentBytes: number;
  trustedProxies: Networks;
  /** Null: deliveries are taken from everywhere. */
  allowedSenders: Networks | null;
  /** The hash of the key for making channels. Null: anybody may make one. */
  createKeyHash: string | null;
};

export type RelayParts = {
  engine: Engine;
  /** Null: without one, a delivery that the engine does not take in time is refused. */
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

/** What the limits count this request by. Without trusted proxies it is the same for a whole connection. */
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

// The address under which this relay is reached from outside: as the operator named it, else as the request did.

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** `https://relay.example`, without a slash at the end. A host that is none is not repeated. */
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

// Structured logs, one JSON object per line, without payloads, keys or channel ids: whoever has a channel's
// id can send to it, so a line names it by a short hash.

export type { Logger } from 'pino';

export function createLogger(destination: DestinationStream, level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** The same channel has the same name in the lines of every relay process. */
export function channelInLogs(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 10);
}
