// `GET /:channel/status`: what is stored, who is connected to this process, and how far every named subscriber
// has come. `POST /:channel/cursor?subscriber=&position=`: a named subscriber says how far it is.
// Both need what reading needs.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Channel, Position } from '../engine/engine.ts';
import { formatPosition, parsePosition } from '../protocol/position.ts';
import { answerJson, refuse } from './answer.ts';
import { bringsKey } from './read-access.ts';
import { limitKeyOf, type RelayParts } from './relay-parts.ts';
import { isSubscriberName } from './subscribe.ts';
import type { Subscribers } from './subscribers.ts';

/** Counted for those that were saved last; each costs the engine a question. */
const MOST_LAGS = 100;

export function createChannelStatus(parts: RelayParts, subscribers: Subscribers) {
  const { engine, limits, settings, now } = parts;

  /** The channel, for whoever may read it; others have had their answer. */
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

  /** What this subscriber has still to get. */
  async function lagOf(id: string, position: Position, newest: Position | null): Promise<number> {
    return isBehind(position, newest) ? engine.countAfter(id, position) : 0;
  }

  return {
    async tell(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
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
