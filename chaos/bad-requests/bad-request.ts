// A bad request (or a valid one), and the allowed answers.
import { createHmac } from 'node:crypto';
import { codehostSecret, trackerSecret } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { codehostExamples } from '../../packages/testkit/src/payloads/codehost-variants.ts';
import { type Example, withDelivery } from '../../packages/testkit/src/payloads/examples.ts';
import { trackerExamples } from '../../packages/testkit/src/payloads/tracker-examples.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { requestBytes, type Sending } from '../../packages/testkit/src/wire/exchange.ts';
import { type Draft, isAcceptable } from './model.ts';

export type MayAnswer = number | 'closed';

export type BadRequest = Sending & {
  /** Sent on a shared connection; a request that may break it has its own. */
  kept: boolean;
  may: readonly MayAnswer[];
  /** Whether a 200 would be right: decided by the model, not by the kind. */
  acceptable: boolean;
  /** The id that it may have in the log. */
  deliveryId?: string;
  /** Whether it was accepted before and a 200 has to report that; undefined if that is unknown. */
  replay?: boolean;
};

export type Kind = { name: string; weight: number; make: (source: Source) => BadRequest };

export function kind(name: string, weight: number, make: Kind['make']): Kind {
  return { name, weight, make };
}

/** Random, by weight. */
export function weighted<Thing extends { weight: number }>(random: Random, things: readonly Thing[]): Thing {
  const total = things.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  return things.find(({ weight }) => (left -= weight) < 0) ?? random.pick(things);
}

export type Source = {
  random: Random;
  /** A valid code-host delivery with an id that was never used. */
  good: () => Draft;
  /** The same for the tracker. */
  goodTracker: () => Draft;
  /** A validly signed delivery of these bytes. */
  signed: (body: Uint8Array | string, headers?: Record<string, string>) => Draft;
  /** One that was accepted before; the first request has to be a valid one. */
  replay: () => BadRequest;
  /** Has to be called with each accepted one. */
  remember: (request: BadRequest) => void;
};

/** How many accepted ones are kept for replays. */
const REMEMBERED = 1000;

export function createSource(random: Random, port: number): Source {
  const examples = codehostExamples();
  const ticketExamples = trackerExamples();
  const accepted: BadRequest[] = [];
  let lastId = 0;

  const newId = (example: Example): string => {
    lastId += 1;
    return withDelivery(example, lastId).deliveryId;
  };
  const draft = (path: string, body: Buffer, headers: Record<string, string>): Draft => ({
    method: 'POST',
    path,
    headers: Object.entries({
      Host: `127.0.0.1:${port}`,
      'Content-Type': 'application/json',
      ...headers,
      'Content-Length': String(body.length),
    }),
    body,
  });
  const signed = (bytes: Uint8Array | string, headers: Record<string, string> = {}): Draft => {
    const example = random.pick(examples);
    const body = Buffer.from(bytes);
    return draft('/api/webhook', body, {
      'X-Codehost-Event': example.type,
      'X-Codehost-Delivery': newId(example),
      'X-Hub-Signature-256': `sha256=${hmac(codehostSecret, body)}`,
      ...headers,
    });
  };
  return {
    random,
    signed,
    good() {
      const { payload, type } = random.pick(examples);
      return signed(JSON.stringify(payload), { 'X-Codehost-Event': type });
    },
    goodTracker() {
      const example = random.pick(ticketExamples);
      const body = Buffer.from(JSON.stringify({ ...example.payload, webhookTimestamp: Date.now() }));
      return draft('/api/webhook/tracker', body, {
        'Tracker-Event': example.type,
        'Tracker-Delivery': newId(example),
        'Tracker-Signature': hmac(trackerSecret, body),
      });
    },
    replay: () => ({ ...random.pick(accepted), replay: true }),
    remember(request) {
      if (!request.kept) return;
      if (accepted.length < REMEMBERED) accepted.push(request);
      else accepted[random.below(accepted.length)] = request;
    },
  };
}

export function hmac(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** The draft with other headers; `undefined` leaves one out. */
export function withHeaders(draft: Draft, changes: Record<string, string | undefined>): Draft {
  const kept = draft.headers.filter(([name]) => !(name in changes));
  const added = Object.entries(changes).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { ...draft, headers: [...kept, ...added] };
}

/** A well-framed request: sent as a whole, on a kept connection. */
export function whole(draft: Draft, ...may: MayAnswer[]): BadRequest {
  const deliveryId = deliveryIdOf(draft);
  return {
    pieces: [requestBytes(draft)],
    kept: true,
    may,
    acceptable: isAcceptable(draft),
    ...(deliveryId !== undefined && { deliveryId }),
  };
}

/** A request that may break the connection: sent in pieces on its own. */
export function apart(draft: Draft, sending: Sending, ...may: MayAnswer[]): BadRequest {
  return { ...whole(draft, ...may), ...sending, kept: false };
}

function deliveryIdOf({ headers }: Draft): string | undefined {
  return headers.find(([name]) => /^(x-codehost|x-github|tracker|linear)-delivery$/i.test(name))?.[1].trim();
}
