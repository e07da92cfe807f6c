// The load generator, in a process of its own and as cheap as can be: raw sockets, one request buffer per
// connection in which only the delivery id changes, the next request when the answer is there.
// Takes orders from its parent (`fork`) and answers each with figures.
import { connect, type Socket } from 'node:net';
import type { SignedDelivery } from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { createResponseReader } from '../packages/testkit/src/wire/exchange.ts';
import { requestBytes } from '../packages/testkit/src/wire/request-bytes.ts';
import { tenKilobyteDeliveries } from './ten-kilobytes.ts';

export type LoadOrder = { port: number; connections: number; seconds: number };
export type LoadFigures = {
  deliveries: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  refused: number;
};

const ID_DIGITS = 12;
const deliveries = tenKilobyteDeliveries();
let lastId = 0;

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (figures) => process.send?.(figures),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function load({ port, connections, seconds }: LoadOrder): Promise<LoadFigures> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  let refused = 0;
  const runs = Array.from({ length: connections }, (_, index) => {
    const delivery = deliveries[index % deliveries.length];
    if (delivery === undefined) throw new Error('There are no deliveries');
    return runConnection(port, delivery, until, (milliseconds, status) => {
      latencies.push(milliseconds);
      if (status !== 200) refused += 1;
    });
  });
  await Promise.all(runs);
  const took = (performance.now() - started) / 1000;
  const sorted = Float64Array.from(latencies).toSorted();
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { deliveries: sorted.length, seconds: took, p50Ms: at(0.5), p99Ms: at(0.99), refused };
}

function runConnection(
  port: number,
  delivery: SignedDelivery,
  until: number,
  onAnswer: (milliseconds: number, status: number) => void,
): Promise<void> {
  const bytes = bytesOf(delivery, port);
  const idEnd = bytes.indexOf(delivery.deliveryId) + delivery.deliveryId.length;
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const send = (): void => {
      lastId += 1;
      bytes.write(lastId.toString(16).padStart(ID_DIGITS, '0'), idEnd - ID_DIGITS, 'latin1');
      sentAt = performance.now();
      socket.write(bytes);
    };
    const read = createResponseReader(({ status }) => {
      const now = performance.now();
      onAnswer(now - sentAt, status);
      if (now < until) return send();
      socket.end();
      resolve();
    });
    socket.on('connect', send);
    socket.on('data', read);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The receiver closed the connection')));
  });
}

function bytesOf({ headers, body }: SignedDelivery, port: number): Buffer {
  const all = { host: `127.0.0.1:${port}`, ...headers, 'content-length': String(body.length) };
  return requestBytes({ headers: Object.entries(all), body });
}
