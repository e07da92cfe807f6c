// `POST /:channel`: limits, channel, body, engine, answer, in this order. 2xx means that the engine has acknowledged the
// delivery, or that the spill has it on disk. The bytes are stored as they arrived, even compressed ones.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '@svc/lib/errors';
import { readBody } from '@svc/lib/read-body';
import type { Spilled } from '../channels/spill.ts';
import type { Delivery, Published } from '../engine/engine.ts';
import { formatPosition, messageIdOf, senderTimeoutMs, travellingHeaders } from '../protocol/frame.ts';
import { type RefusalCode, refuse } from './answer.ts';
import { addressOf, channelInLogs, isEngineUnavailable, limitKeyOf, type RelayParts } from './relay-parts.ts';

/** However long the body took to arrive, the engine gets at least this time. */
const LEAST_TIMEOUT_MS = 500;
const MAX_BODY_BYTES = 25 * 1024 * 1024;

type Refused = { code: RefusalCode; waitMs?: number };

/** `awaited`: the sender sent `Expect: 100-continue`, and waits for the answer before it sends the body. */
export type TakeDelivery = (
  request: IncomingMessage,
  response: ServerResponse,
  channel: string,
  query: string,
  awaited: boolean,
) => void;

export function createTakeDelivery(parts: RelayParts): TakeDelivery {
  const { engine, spill, limits, settings, logger, metrics, budget, now } = parts;

  function early(request: IncomingMessage, address: string, at: number): Refused | undefined {
    if (settings.allowedSenders?.has(addressOf(request, settings)) === false)
      return { code: 'sender-not-allowed' };
    const waitMs = limits.request(address, at);
    if (waitMs > 0) return { code: 'rate-limited', waitMs };
    return Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES
      ? { code: 'too-large' }
      : undefined;
  }

  async function take(
    request: IncomingMessage,
    response: ServerResponse,
    channel: string,
    query: string,
    awaited: boolean,
  ): Promise<Refused | Published | Spilled> {
    const receivedAt = now();
    const address = limitKeyOf(request, settings);
    const refused = early(request, address, receivedAt);
    if (refused !== undefined) return refused;
    const timeoutMs = senderTimeoutMs(request.headers);
    const found = await engine.findChannel(channel, timeoutMs);
    if (found === undefined || found.admin !== undefined) return { code: 'unknown-channel' };
    const waitMs = limits.delivery(channel, receivedAt);
    if (waitMs > 0) return { code: 'rate-limited', waitMs };
    if (awaited) response.writeContinue();
    const body = await readBody(request, MAX_BODY_BYTES, budget);
    if (typeof body === 'string') return { code: body };
    limits.weigh(channel, address, body.length, receivedAt);
    const delivery: Delivery = {
      headers: travellingHeaders(request.headers),
      query: query === '' ? {} : Object.fromEntries(new URLSearchParams(query)),
      receivedAt,
      body,
    };
    try {
      const published = await (spill ?? engine).publish(channel, delivery, {
        messageId: messageIdOf(request.headers),
        deadlineMs: Math.max(LEAST_TIMEOUT_MS, timeoutMs - (now() - receivedAt)),
      });
      metrics.bytes.posted += 'duplicate' in published && published.duplicate ? 0 : body.length;
      metrics.postSeconds.observe((now() - receivedAt) / 1000);
      return published;
    } finally {
      budget.give(body.length);
    }
  }

  function failed(error: unknown, channel: string): Refused {
    if (isEngineUnavailable(error)) {
      const why = messageOf(error);
      logger.warn(
        { channel: channelInLogs(channel), why },
        'the engine did not acknowledge a delivery in time',
      );
      return { code: 'engine-unavailable' };
    }
    logger.error({ err: error, channel: channelInLogs(channel) }, 'a delivery failed');
    return { code: 'failed' };
  }

  return (request, response, channel, query, awaited) => {
    const answer = (result: Refused | Published | Spilled): void => {
      if ('code' in result) {
        metrics.posts.add({ outcome: result.code });
        refuse(request, response, result.code, result.waitMs);
        return;
      }
      if ('spilled' in result) metrics.posts.add({ outcome: 'spilled' });
      else metrics.posts.add({ outcome: result.duplicate ? 'duplicate' : 'stored' });
      confirm(response, result);
    };
    take(request, response, channel, query, awaited)
      .catch((error: unknown) => failed(error, channel))
      .then(answer)
      // No answer is possible any more: the sender sees a closed connection.
      .catch((error: unknown) => {
        logger.error({ err: error }, 'an answer failed');
        response.destroy();
      });
  };
}

function confirm(response: ServerResponse, result: Published | Spilled): void {
  if (response.destroyed) return;
  const text = 'spilled' in result ? '{"ok":true,"spilled":true}' : confirmation(result);
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(text.length)]);
  response.end(text, 'latin1');
}

/** An epoch and a number need no escaping. */
function confirmation({ position, duplicate }: Published): string {
  const id = formatPosition(position);
  return duplicate ? `{"ok":true,"id":"${id}","duplicate":true}` : `{"ok":true,"id":"${id}"}`;
}
