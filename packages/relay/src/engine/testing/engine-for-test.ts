// An engine on a real nats-server for one test, and a reader that records all callbacks.
import { natsForTest, WAIT_MS } from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { type ProvisionOptions, provision } from '../../provision/provision.ts';
import { createEngine, type EngineOptions } from '../create-engine.ts';
import type { Delivery, Engine, FollowOptions, Gap, Position } from '../engine.ts';

export type TestEngineOptions = Omit<ProvisionOptions, 'nats'> &
  Pick<EngineOptions, 'timing'> & { maxPayload?: number };

export async function engineForTest(options: TestEngineOptions = {}) {
  const { maxPayload, timing, ...streams } = options;
  const server = await natsForTest(maxPayload === undefined ? {} : { maxPayload });
  const nats = { servers: [server.url] };
  await provision({ nats, shards: 2, ...streams });
  return { server, nats, engine: await anotherEngine(nats.servers, timing) };
}

/** The engine of another relay process. */
export async function anotherEngine(
  servers: readonly string[],
  timing: EngineOptions['timing'] = {},
): Promise<Engine> {
  const engine = await createEngine({ nats: { servers }, timing });
  onTestFinished(() => engine.close());
  return engine;
}

export function deliveryOf(text: string | Buffer): Delivery {
  const body = typeof text === 'string' ? Buffer.from(text) : text;
  return { headers: { 'content-type': 'application/json' }, query: {}, receivedAt: 1, body };
}

export async function publishText(engine: Engine, channel: string, text: string, messageId?: string) {
  return engine.publish(channel, deliveryOf(text), { messageId, deadlineMs: WAIT_MS });
}

export type Heard = {
  ready: Position | null;
  bodies: string[];
  positions: Position[];
  gaps: Gap[];
  ended: Error | null;
  /** What happened, in order: `ready`, `gap`, or the body. */
  events: string[];
};

export function listen(
  engine: Engine,
  channel: string,
  after: FollowOptions['after'] = 'new',
  take: (received: Heard) => boolean = () => true,
) {
  const received: Heard = { ready: null, bodies: [], positions: [], gaps: [], ended: null, events: [] };
  const follower = engine.follow(channel, {
    after,
    onReady(at) {
      received.ready = at;
      received.events.push('ready');
    },
    onDelivery({ position, delivery }) {
      received.bodies.push(delivery.body.toString());
      received.positions.push(position);
      received.events.push(delivery.body.toString('utf8', 0, 20));
      return take(received);
    },
    onGap(gap) {
      received.gaps.push(gap);
      received.events.push('gap');
    },
    onEnd(reason) {
      received.ended = reason;
    },
  });
  return { received, follower };
}
