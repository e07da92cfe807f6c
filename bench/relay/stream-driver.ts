// Thousands of subscribers, in a separate process and as cheap as possible: raw sockets that request the event stream
// and remember one position. Source addresses are spread over the loopback network, because one address has too few
// ports for so many connections.
import { connect, type Socket } from 'node:net';
import { answerOrders, sharedNow } from '../child.ts';

export type StreamChannel = { channel: string; readKey: string | null };

export type DriverOrder =
  | { what: 'open'; port: number; driver: number; channels: readonly StreamChannel[]; atOnce: number }
  /** Connections one after another, each with the id of the first delivery, until it has the second. */
  | { what: 'resume'; port: number; seconds: number; atOnce: number }
  | { what: 'count' };

export type DriverFigures = {
  open: number;
  /** Deliveries that reached the open ones. */
  delivered: number;
  seconds: number;
  resumes: number;
  failed: string[];
};

type Stream = { channel: StreamChannel; position: string; socket: Socket };

const ADDRESSES = 50;
const TIMEOUT_MS = 20_000;
const streams: Stream[] = [];
let target = { port: 0, driver: 0 };
let delivered = 0;
let dialled = 0;

answerOrders(async (order: DriverOrder): Promise<DriverFigures> => {
  const started = sharedNow();
  const failed: string[] = [];
  let resumes = 0;
  if (order.what === 'open') {
    target = order;
    const waiting = order.channels.values();
    await manyAtOnce(order.atOnce, async () => {
      for (const channel of waiting)
        await openOne(channel).catch((error: unknown) => failed.push(String(error)));
    });
  }
  if (order.what === 'resume') {
    target.port = order.port;
    const until = started + order.seconds * 1000;
    let next = 0;
    await manyAtOnce(order.atOnce, async () => {
      while (sharedNow() < until) {
        const stream = streams[next++ % streams.length];
        if (stream === undefined) throw new Error('nothing to resume');
        await resumeOne(stream).then(
          () => (resumes += 1),
          (error: unknown) => failed.push(String(error)),
        );
      }
    });
  }
  const open = streams.filter(({ socket }) => !socket.destroyed).length;
  return { open, delivered, seconds: (sharedNow() - started) / 1000, resumes, failed: failed.slice(0, 5) };
});

async function manyAtOnce(count: number, run: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, run));
}

async function openOne(channel: StreamChannel): Promise<void> {
  const socket = dial(channel, undefined);
  const text = await readUntil(socket, /event: ready\ndata: [^\n]*\n\n/);
  const position = /"position":"([^"]+)"/.exec(text)?.[1];
  if (position === undefined) throw new Error(`no position in ${text.slice(0, 300)}`);
  const stream: Stream = { channel, position, socket };
  let own = 0;
  socket.on('data', (chunk: Buffer) => {
    if (!chunk.includes('bodyB')) return;
    delivered += 1;
    own += 1;
    if (own === 1) stream.position = /^id: ?(\S+)/m.exec(chunk.toString('latin1'))?.[1] ?? position;
  });
  streams.push(stream);
}

async function resumeOne({ channel, position }: Stream): Promise<void> {
  const socket = dial(channel, position);
  try {
    const text = await readUntil(socket, /"bodyB":"[^\n]*\n\n|event: gap/);
    if (text.includes('event: gap')) throw new Error(`a gap after ${position}`);
  } finally {
    socket.destroy();
  }
}

function dial({ channel, readKey }: StreamChannel, after: string | undefined): Socket {
  dialled += 1;
  const localAddress = `127.0.${target.driver + 1}.${(dialled % ADDRESSES) + 1}`;
  const socket = connect({ port: target.port, host: '127.0.0.1', localAddress, noDelay: true });
  const lines = [
    `GET /${channel}?raw=1 HTTP/1.1`,
    `host: 127.0.0.1:${target.port}`,
    'accept: text/event-stream',
    ...(readKey === null ? [] : [`authorization: Bearer ${readKey}`]),
    ...(after === undefined ? [] : [`last-event-id: ${after}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => end(new Error(`not in time: ${text.slice(0, 300)}`)), TIMEOUT_MS);
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (pattern.test(text)) end(null);
      else if (/^HTTP\/1\.1 [345]/.test(text)) end(new Error(text.slice(0, 300)));
    };
    const fail = (error?: unknown): void => end(new Error(`ended: ${String(error)} ${text.slice(0, 300)}`));
    const end = (error: Error | null): void => {
      clearTimeout(timer);
      socket.off('data', read).off('error', fail).off('close', fail);
      // Later failures show when the open ones are counted.
      socket.on('error', () => undefined);
      if (error === null) resolve(text);
      else {
        socket.destroy();
        reject(error);
      }
    };
    socket.on('data', read).on('error', fail).on('close', fail);
  });
}
