// What every route is given: the engine, the limits and the operator's choices.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget } from '@svc/lib/read-body';
import type { Spill } from '../channels/spill.ts';
import type { Engine } from '../engine/engine.ts';
import { clientAddress, limitKey } from '../limits/client-address.ts';
import type { Limits } from '../limits/limits.ts';
import type { Networks } from '../limits/networks.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { publicOrigin } from './public-address.ts';

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
