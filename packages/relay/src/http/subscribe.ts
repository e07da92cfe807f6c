// `GET /:channel` as an event stream. It starts after `Last-Event-ID`; else at the named subscriber's cursor; else at
// `?since=`; else with the next delivery.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Position } from '../engine/engine.ts';
import { relayAnnouncement } from '../protocol/event-stream.ts';
import { parsePosition } from '../protocol/frame.ts';
import { type RefusalCode, refuse } from './answer.ts';
import { bringsKey } from './read-access.ts';
import { channelInLogs, isEngineUnavailable, limitKeyOf, type RelayParts } from './relay-parts.ts';

import { carriesStream, type Subscriber, type Subscribers } from './subscribers.ts';

const namePattern = /^[A-Za-z0-9._-]{1,64}$/;
/** Most cursors per channel. */
const MAX_NAMES = 1_000;
const KEEP_ALIVE_MS = 60_000;
const noHeaders: Readonly<Record<string, never>> = Object.freeze({});

type Start = {
  after: Position | 'new' | 'oldest';
  name: string | null;
  /** The saved cursor of the name. */
  kept: Position | null;
};
type Refused = { code: RefusalCode; waitMs?: number };

export function isSubscriberName(name: string): boolean {
  return namePattern.test(name);
}

/** A header like `text/html, text/event-stream;q=0.9` asks for a stream too. */
export function wantsStream(request: IncomingMessage): boolean {
  return request.headers.accept?.includes('text/event-stream') === true;
}

export function createSubscribe(parts: RelayParts, subscribers: Subscribers) {
  const { engine, limits, settings, logger, metrics, now } = parts;
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: text/event-stream',
    'Cache-Control: no-store',
    `X-Svc-Relay: ${relayAnnouncement(settings.pingSeconds)}`,
    'X-Accel-Buffering: no',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    'Date: ',
  ].join('\r\n');

  async function startOf(
    request: IncomingMessage,
    channel: string,
    query: URLSearchParams,
  ): Promise<Start | Refused> {
    const name = query.get('subscriber');
    if (name !== null && !namePattern.test(name)) return { code: 'bad-subscriber' };
    const since = query.get('since') ?? 'new';
    const asked = since === 'new' || since === 'oldest' ? since : parsePosition(since);
    if (asked === undefined) return { code: 'bad-position' };
    // An id of the public relay is not a position: such a reader starts like a new one.
    const last = parsePosition(headerText(request.headers['last-event-id']));
    if (last !== undefined || name === null) return { after: last ?? asked, name, kept: null };
    const kept = (await engine.cursor(channel, name))?.position ?? null;
    if (kept === null && (await engine.cursors(channel)).length >= MAX_NAMES)
      return { code: 'too-many-subscribers' };
    return { after: kept ?? asked, name, kept };
  }

  async function check(
    request: IncomingMessage,
    channel: string,
    query: URLSearchParams,
  ): Promise<Start | Refused> {
    const waitMs = limits.request(limitKeyOf(request, settings), now());
    if (waitMs > 0) return { code: 'rate-limited', waitMs };
    const found = await engine.findChannel(channel);
    if (found === undefined || found.admin !== undefined) return { code: 'unknown-channel' };
    if (found.readKeyHash !== null && !bringsKey(request, found.readKeyHash)) return { code: 'key-needed' };
    return tooMany(request, channel) ?? (await startOf(request, channel, query));
  }

  function tooMany(request: IncomingMessage, channel: string): Refused | undefined {
    if (subscribers.count() >= limits.subscribers) return { code: 'busy' };
    const here = subscribers.of(channel).size >= limits.subscribersPerChannel;
    const ofAddress = subscribers.ofAddress(limitKeyOf(request, settings)) >= limits.subscribersPerAddress;
    return here || ofAddress ? { code: 'too-many-subscribers' } : undefined;
  }

  function open(
    request: IncomingMessage,
    response: ServerResponse,
    channel: string,
    query: URLSearchParams,
    start: Start,
  ): void {
    const { socket } = request;
    // A pipelined request after a stream, or before a pending answer: no real reader does that.
    if (socket.destroyed || response.socket !== socket || carriesStream(socket)) {
      socket.destroy();
      return;
    }
    forgetRequest(request);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const cursor =
      start.name === null ? null : { channel, subscriber: start.name, at: start.kept, saved: start.kept };
    const subscriber = subscribers.add({
      socket,
      channel,
      address: limitKeyOf(request, settings),
      raw: query.get('raw') === '1',
      cursor,
      acknowledges: query.get('ack') === '1',
      // Not through the response object: it would stay in memory as long as the stream. Without chunks, the stream ends with
      // its connection, and a frame is sent as it is.
      head: `${head}${new Date(now()).toUTCString()}\r\n\r\n`,
    });
    metrics.subscriptions.add({ outcome: 'opened' });
    follow(subscriber, start.after);
  }

  function follow(subscriber: Subscriber, after: Start['after']): void {
    subscriber.follower = engine.follow(subscriber.channel, {
      after,
      onReady: (at) => subscribers.ready(subscriber, at),
      onDelivery: (stored) => subscribers.deliver(subscriber, stored),
      onGap: (gap) => subscribers.gap(subscriber, gap),
      onEnd: (reason) => {
        logger.warn(
          { channel: channelInLogs(subscriber.channel), why: reason.message },
          'the engine ended a stream',
        );
        subscribers.end(subscriber, 'engine');
      },
    });
  }

  return async (
    request: IncomingMessage,
    response: ServerResponse,
    channel: string,
    query: URLSearchParams,
  ): Promise<void> => {
    const result = await check(request, channel, query).catch((error: unknown): Refused => {
      if (isEngineUnavailable(error)) return { code: 'engine-unavailable' };
      throw error;
    });
    // Other subscribers may have connected during the request to the engine.
    const refused = 'code' in result ? result : tooMany(request, channel);
    if (refused === undefined && !('code' in result)) return open(request, response, channel, query, result);
    const { code, waitMs } = refused ?? { code: 'failed' as const, waitMs: undefined };
    metrics.subscriptions.add({ outcome: code });
    refuse(request, response, code, waitMs);
  };
}

/**
 * The request's data is no longer needed, and would stay in memory as long as the stream. A completed request is
 * detached: otherwise node:http ends it with an error and a stack trace when the reader disconnects.
 */
function forgetRequest(request: IncomingMessage): void {
  request.headers = noHeaders;
  request.rawHeaders.length = 0;
  if (!request.complete) return;
  if (request.readableEnded) request.destroy();
  else request.once('end', destroyRequest).resume();
}

function destroyRequest(this: IncomingMessage): void {
  this.destroy();
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
