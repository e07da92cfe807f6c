// The bare engine: the client library's own publish with acknowledgement, no HTTP, so many in flight.
import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { answerOrders } from './child.ts';
import { type Spread, sharedNow, spreadOf } from './latencies.ts';

export type PublishOrder = {
  servers: readonly string[];
  subject: string;
  bytes: number;
  inFlight: number;
  seconds: number;
};
export type PublishFigures = Spread & { acknowledged: number; seconds: number };

answerOrders(async (order: PublishOrder): Promise<PublishFigures> => {
  const connection = await connect({ servers: [...order.servers] });
  const engine = jetstream(connection);
  const payload = Buffer.alloc(order.bytes, 'x');
  const latencies: number[] = [];
  const run = randomUUID();
  const started = sharedNow();
  const until = started + order.seconds * 1000;
  let last = 0;
  const publish = async (): Promise<void> => {
    for (let at = sharedNow(); at < until; at = sharedNow()) {
      last += 1;
      await engine.publish(order.subject, payload, { msgID: `${run}:${last}` });
      latencies.push(sharedNow() - at);
    }
  };
  await Promise.all(Array.from({ length: order.inFlight }, publish));
  const seconds = (sharedNow() - started) / 1000;
  await connection.close();
  return { ...spreadOf(latencies), acknowledged: latencies.length, seconds };
});
