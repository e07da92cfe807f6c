// The senders, in a separate process and as cheap as possible: raw sockets, one request buffer per connection in which
// only the delivery id, the time, the end of the body and its signature change. Closed loop: the next post after the
// answer. Paced: a given number a second, on as many connections as needed.
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import { type SignedDelivery, sizedDelivery } from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { type Spread, spreadOf } from '../packages/testkit/src/script.ts';
import { createResponseReader, requestBytes } from '../packages/testkit/src/wire/exchange.ts';
import { answerOrders, sharedNow } from './child.ts';
import { tenKilobyteDeliveries } from './ten-kilobytes.ts';

export type LoadOrder = {
  port: number;
  path: string;
  /** Size of each delivery; if absent, one published example of each type, about 10 KB. */
  bytes?: number;
  /** Ids count up from here, so that no two orders use the same. */
  firstId: number;
} & (
  | { kind: 'closed'; connections: number; seconds: number }
  | { kind: 'paced'; rate: number; count: number }
);

export type LoadFigures = Spread & {
  posts: number;
  acknowledged: number;
  /** Answers by status. */
  answers: Record<string, number>;
  seconds: number;
  /** By number of the id from `firstId` on: when it was sent (shared clock); 0 if it was not acknowledged. */
  sentAt: number[];
};

/** When a delivery was sent, for its receiver. */
const SENT_AT_HEADER = 'x-bench-sent-at';
const ID_DIGITS = 12;
const TIME_CHARACTERS = 20;
const MOST_CONNECTIONS = 512;
const examples = tenKilobyteDeliveries();

answerOrders((order: LoadOrder) => load(order));

async function load(order: LoadOrder): Promise<LoadFigures> {
  const latencies: number[] = [];
  const answers: Record<string, number> = {};
  const sentAt: number[] = [];
  const started = sharedNow();
  let next = 0;
  let acknowledged = 0;
  const post = async (connection: Connection): Promise<void> => {
    const number = next++;
    const { status, at, milliseconds } = await connection.post(order.firstId + number);
    const isGood = status >= 200 && status < 300;
    latencies.push(milliseconds);
    answers[status] = (answers[status] ?? 0) + 1;
    sentAt[number] = isGood ? at : 0;
    if (isGood) acknowledged += 1;
  };
  await (order.kind === 'closed' ? closedLoop(order, post) : paced(order, post));
  const seconds = (sharedNow() - started) / 1000;
  return {
    ...spreadOf(latencies),
    posts: next,
    acknowledged,
    answers,
    seconds,
    sentAt: Array.from(sentAt, (at) => at ?? 0),
  };
}

type Post = (connection: Connection) => Promise<void>;

async function closedLoop(order: LoadOrder & { kind: 'closed' }, post: Post): Promise<void> {
  const until = sharedNow() + order.seconds * 1000;
  const run = async (_: unknown, number: number): Promise<void> => {
    const connection = await openConnection(order, number);
    while (sharedNow() < until && connection.isOpen()) await post(connection);
    connection.close();
  };
  await Promise.all(Array.from({ length: order.connections }, run));
}

async function paced(order: LoadOrder & { kind: 'paced' }, post: Post): Promise<void> {
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const underWay = new Set<Promise<void>>();
  const started = sharedNow();
  for (let number = 0; number < order.count; number += 1) {
    const early = started + (number * 1000) / order.rate - sharedNow();
    if (early > 0) await sleep(early);
    if (underWay.size === MOST_CONNECTIONS) await Promise.race(underWay);
    let connection = idle.pop();
    // A server closes idle connections.
    while (connection !== undefined && !connection.isOpen()) connection = idle.pop();
    const used = connection ?? (await openConnection(order, number));
    all.add(used);
    const one = post(used).finally(() => {
      underWay.delete(one);
      idle.push(used);
    });
    underWay.add(one);
  }
  await Promise.all(underWay);
  for (const connection of all) connection.close();
}

type Connection = {
  /** Status 0: the connection ended without an answer. */
  post: (id: number) => Promise<{ status: number; at: number; milliseconds: number }>;
  isOpen: () => boolean;
  close: () => void;
};

/** Each has one delivery. */
async function openConnection(order: LoadOrder, number: number): Promise<Connection> {
  const { port, path, bytes } = order;
  const {
    headers,
    body: example,
    deliveryId,
  } = bytes === undefined ? exampleFor(number) : sizedDelivery(bytes, codehostSecret);
  // The same bytes again would be repeats, for which a receiver looks up the first.
  const start = Buffer.concat([example.subarray(0, -1), Buffer.from(',"number":"')]);
  const body = Buffer.concat([start, Buffer.from(`${'0'.repeat(ID_DIGITS)}"}`)]);
  const signatureOf = createSigner(codehostSecret, start);
  const all = {
    host: `127.0.0.1:${port}`,
    ...headers,
    [SENT_AT_HEADER]: '0'.repeat(TIME_CHARACTERS),
    'content-length': String(body.length),
  };
  const request = requestBytes({ path, headers: Object.entries(all), body });
  const idAt = request.indexOf(deliveryId) + deliveryId.length - ID_DIGITS;
  const numberAt = request.length - ID_DIGITS - '"}'.length;
  const signatureAt = request.indexOf('sha256=') + 'sha256='.length;
  const timeAt = request.indexOf('0'.repeat(TIME_CHARACTERS), request.indexOf(SENT_AT_HEADER));
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let settle: (status: number) => void = () => undefined;
  socket.on(
    'data',
    createResponseReader(({ status }) => settle(status)),
  );
  socket.on('error', () => settle(0));
  socket.on('close', () => settle(0));
  return {
    post: (id) =>
      new Promise((resolve) => {
        const at = sharedNow();
        const digits = id.toString(16).padStart(ID_DIGITS, '0');
        request.write(digits, idAt, 'latin1');
        request.write(digits, numberAt, 'latin1');
        request.write(signatureOf(`${digits}"}`), signatureAt, 'latin1');
        request.write(at.toFixed(6).padStart(TIME_CHARACTERS, '0'), timeAt, 'latin1');
        settle = (status) => resolve({ status, at, milliseconds: sharedNow() - at });
        if (socket.destroyed) settle(0);
        else socket.write(request);
      }),
    isOpen: () => !socket.destroyed && socket.writable,
    close: () => void socket.destroy(),
  };
}

function exampleFor(number: number): SignedDelivery {
  const example = examples[number % examples.length];
  if (example === undefined) throw new Error('no deliveries');
  return example;
}

/** HMAC-SHA-256 of bodies that differ only at their end: the start of all of them is hashed once. */
function createSigner(secret: string, start: Uint8Array): (end: string) => string {
  const key = Buffer.alloc(64);
  key.write(secret);
  const keyed = (mask: number) => createHash('sha256').update(key.map((byte) => byte ^ mask));
  const inner = keyed(0x36).update(start);
  const outer = keyed(0x5c);
  return (end) => outer.copy().update(inner.copy().update(end).digest()).digest('hex');
}
