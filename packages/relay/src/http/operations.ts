// For the relay's operator: whether it is alive, whether it is ready, and its figures.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Spill } from '../channels/spill.ts';
import type { Channel, Position } from '../engine/engine.ts';
import { privateNetworks } from '../limits/limits.ts';
import { formatPosition, parsePosition } from '../protocol/frame.ts';
import { answerJson, refuse } from './answer.ts';
import { bringsKey } from './read-access.ts';
import { addressOf, limitKeyOf, type RelayParts } from './relay-parts.ts';
import { isSubscriberName } from './subscribe.ts';
import type { Subscribers } from './subscribers.ts';

export function createOperations(
  { engine, spill, settings, metrics }: RelayParts,
  isStopping: () => boolean,
) {
  return {
    /** The process answers. */
    alive(response: ServerResponse): void {
      answerJson(response, 200, JSON.stringify({ ok: true, version: settings.version }));
    },

    /** A balancer may send requests here. */
    ready(response: ServerResponse): void {
      const { connected, server, since, reason, streams, behind } = engine.health();
      const ready = connected && !isStopping();
      const body = {
        ok: ready,
        engine: { connected, server, since: new Date(since).toISOString(), streams, behind },
        ...(spill !== null && { spill: spillIn(spill) }),
        ...(!ready && { reason: isStopping() ? 'the relay is stopping' : (reason ?? 'not connected') }),
      };
      answerJson(response, ready ? 200 : 503, JSON.stringify(body), ready ? [] : ['Retry-After', '5']);
    },

    /** Through a proxy that is not trusted, any address would look local. */
    async metrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const address = addressOf(request, settings);
      const unknownProxy =
        request.headers['x-forwarded-for'] !== undefined &&
        !settings.trustedProxies.has(request.socket.remoteAddress ?? '');
      if (unknownProxy || !privateNetworks.has(address))
        return refuse(request, response, 'metrics-are-local');
      const text = await metrics.registry.metrics();
      response.writeHead(200, [
        'Content-Type',
        metrics.registry.contentType,
        'Content-Length',
        String(Buffer.byteLength(text)),
      ]);
      response.end(text);
    },
  };
}

function spillIn(spill: Spill) {
  const { waiting, bytes, oldestAt, refusing } = spill.state();
  return { waiting, bytes, oldest: oldestAt === null ? null : new Date(oldestAt).toISOString(), refusing };
}

// `GET /:channel/status`: what is stored, who is connected to this process, and how far every named subscriber has read.
// `POST /:channel/cursor?subscriber=&position=`: a named subscriber reports how far it has read. Both need the same
// rights as reading.

/** Counted for the most recently saved cursors; each costs a request to the engine. */
const MOST_LAGS = 100;

export function createChannelStatus(parts: RelayParts, subscribers: Subscribers) {
  const { engine, limits, settings, now } = parts;

  /** The channel, if the request may read it; otherwise the refusal has been sent. */
  async function readable(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Promise<Channel | undefined> {
    const waitMs = limits.request(limitKeyOf(request, settings), now());
    if (waitMs > 0) {
      refuse(request, response, 'rate-limited', waitMs);
      return undefined;
    }
    const channel = await engine.findChannel(id);
    const mayRead =
      channel !== undefined && (channel.readKeyHash === null || bringsKey(request, channel.readKeyHash));
    if (mayRead) return channel;
    refuse(request, response, channel === undefined ? 'unknown-channel' : 'key-needed');
    return undefined;
  }

  async function report(channel: Channel) {
    const [status, cursors] = await Promise.all([engine.status(channel.id), engine.cursors(channel.id)]);
    const connected = [...subscribers.of(channel.id)];
    const named = await Promise.all(
      cursors
        .toSorted((one, other) => other.at - one.at)
        .map(async ({ subscriber, position, at }, index) => ({
          subscriber,
          position: formatPosition(position),
          savedAt: new Date(at).toISOString(),
          connected: connected.some(({ cursor }) => cursor?.subscriber === subscriber),
          lag: index < MOST_LAGS ? await lagOf(channel.id, position, status.newest) : null,
        })),
    );
    return {
      stored: status.stored,
      bytes: status.bytes,
      oldest: textOf(status.oldest),
      newest: textOf(status.newest),
      open: channel.readKeyHash === null,
      createdAt: new Date(channel.createdAt).toISOString(),
      subscribers: { connected: connected.length, named },
    };
  }

  /** How many deliveries this subscriber has not received yet. */
  async function lagOf(id: string, position: Position, newest: Position | null): Promise<number> {
    return isBehind(position, newest) ? engine.countAfter(id, position) : 0;
  }

  return {
    async answer(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
      const channel = await readable(request, response, id);
      if (channel !== undefined) answerJson(response, 200, JSON.stringify(await report(channel)));
    },

    async moveCursor(
      request: IncomingMessage,
      response: ServerResponse,
      id: string,
      query: URLSearchParams,
    ): Promise<void> {
      const channel = await readable(request, response, id);
      if (channel === undefined) return;
      const subscriber = query.get('subscriber') ?? '';
      const position = parsePosition(query.get('position') ?? undefined);
      if (!isSubscriberName(subscriber)) return refuse(request, response, 'bad-subscriber');
      if (position === undefined) return refuse(request, response, 'bad-position');
      await engine.saveCursor(id, subscriber, position);
      response.writeHead(204).end();
    },
  };
}

function isBehind(position: Position, newest: Position | null): boolean {
  return newest !== null && (position.epoch !== newest.epoch || position.seq < newest.seq);
}

function textOf(position: Position | null): string | null {
  return position === null ? null : formatPosition(position);
}
