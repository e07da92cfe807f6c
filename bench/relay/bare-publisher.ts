// The bare engine without HTTP, with a number of publishes in flight: the client library's own publish with
// acknowledgement, or ours.
import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openConnection } from '../../packages/relay/src/engine/connection.ts';
import { createPublisher } from '../../packages/relay/src/engine/publisher.ts';
import { type Spread, spreadOf } from '../../packages/testkit/src/script.ts';
import { answerOrders, sharedNow } from '../child.ts';

export type PublishOrder = {
  servers: readonly string[];
  subject: string;
  bytes: number;
  inFlight: number;
  seconds: number;
  by: 'library' | 'relay';
};
export type PublishFigures = Spread & { acknowledged: number; seconds: number };

answerOrders(async (order: PublishOrder): Promise<PublishFigures> => {
  const { send, close } = await (order.by === 'library' ? byLibrary(order) : byRelay(order));
  const payload = Buffer.alloc(order.bytes, 'x');
  const latencies: number[] = [];
  const run = randomUUID();
  const started = sharedNow();
  const until = started + order.seconds * 1000;
  let last = 0;
  const publish = async (): Promise<void> => {
    for (let at = sharedNow(); at < until; at = sharedNow()) {
      last += 1;
      await send(payload, `${run}:${last}`);
      latencies.push(sharedNow() - at);
    }
  };
  await Promise.all(Array.from({ length: order.inFlight }, publish));
  const seconds = (sharedNow() - started) / 1000;
  await close();
  return { ...spreadOf(latencies), acknowledged: latencies.length, seconds };
});

type Way = { send: (payload: Buffer, id: string) => Promise<unknown>; close: () => Promise<void> };

/** At its best: with a stack trace for each request it takes twice as long. */
async function byLibrary({ servers, subject }: PublishOrder): Promise<Way> {
  const connection = await connect({ servers: [...servers], noAsyncTraces: true });
  const engine = jetstream(connection);
  return {
    send: (payload, msgID) => engine.publish(subject, payload, { msgID }),
    close: () => connection.close(),
  };
}

async function byRelay({ servers, subject }: PublishOrder): Promise<Way> {
  const connection = await openConnection({ servers }, 'bench');
  const publisher = createPublisher(connection);
  return {
    send: (payload, messageId) => publisher.publish({ subject, payload, messageId, deadlineMs: 8000 }),
    async close() {
      publisher.close();
      await connection.close();
    },
  };
}
