// Sends bytes unchanged and waits for the first answer: on its own connection, in pieces, with pauses, with an early
// end; or on a connection that is kept for the next request.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from '../waiting.ts';

/** `closed`: the connection ended without an answer. `silent`: nothing came within the timeout. */
export type Reply = RawResponse | 'closed' | 'silent';

export type Sending = {
  pieces: Iterable<Uint8Array>;
  /** Between two pieces. */
  pauseMs?: number;
  /** After the last piece: end our half, at once or without an answer, or cut the connection. */
  after?: 'end' | 'end-later' | 'cut';
};

const END_LATER_MS = 5_000;

export async function exchange(port: number, sending: Sending, timeoutMs = WAIT_MS): Promise<Reply> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const reply = firstReply(socket, timeoutMs);
  try {
    await write(socket, sending);
    if (sending.after === 'end') socket.end();
    if (sending.after === 'end-later') setTimeout(() => socket.end(), END_LATER_MS).unref();
    if (sending.after === 'cut') socket.destroy();
    return await reply;
  } finally {
    socket.destroy();
  }
}

/** Stops early if the other side has answered or closed: the reply shows which. */
async function write(socket: Socket, { pieces, pauseMs = 0 }: Sending): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed || !socket.writable) return;
    const hasSpace = socket.write(piece);
    if (!hasSpace) await drained(socket);
    if (pauseMs > 0) await sleep(pauseMs);
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

function firstReply(socket: Socket, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('silent'), timeoutMs);
    const settle = (reply: Reply): void => {
      clearTimeout(timer);
      resolve(reply);
    };
    socket.on('data', createResponseReader(settle));
    // A reset is treated like any end: what counts is whether an answer came before.
    socket.on('error', () => settle('closed'));
    socket.on('close', () => settle('closed'));
  });
}

export type KeptConnection = {
  exchange: (pieces: Iterable<Uint8Array>) => Promise<Reply>;
  close: () => void;
};

/** One request after another on the same connection, or on a new one if the other side has closed it. */
export function keepConnection(port: number, timeoutMs = WAIT_MS): KeptConnection {
  let current: { socket: Socket; settle: (reply: Reply) => void } | undefined;

  function open() {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const opened = { socket, settle: (_reply: Reply): void => undefined };
    const forget = (): void => {
      if (current === opened) current = undefined;
      opened.settle('closed');
    };
    socket.on(
      'data',
      createResponseReader((response) => {
        if (response.closes && current === opened) current = undefined;
        opened.settle(response);
      }),
    );
    socket.on('error', forget);
    socket.on('close', forget);
    return opened;
  }

  return {
    exchange(pieces) {
      return new Promise((resolve) => {
        const connection = (current ??= open());
        const timer = setTimeout(() => connection.settle('silent'), timeoutMs);
        connection.settle = (reply) => {
          clearTimeout(timer);
          resolve(reply);
        };
        for (const piece of pieces) connection.socket.write(piece);
      });
    },
    close: () => current?.socket.destroy(),
  };
}

// Reads answers from the bytes of a connection: only the status line, the length and the body, so that a load generator
// spends its time on sending.

export type RawResponse = { status: number; body: Buffer; closes: boolean };

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const lengthPattern = /\r\ncontent-length: *(\d+)/i;
const closePattern = /\r\nconnection: *close/i;

/** An answer without a length has no relevant body, and ends the connection. */
export function createResponseReader(onResponse: (response: RawResponse) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    rest = undefined;
    while (bytes.length > 0) {
      const taken = readOne(bytes, onResponse);
      if (taken === 0) {
        rest = bytes;
        return;
      }
      bytes = bytes.subarray(taken);
    }
  };
}

/** The size of one complete answer, 0 while there is none. */
function readOne(bytes: Buffer, onResponse: (response: RawResponse) => void): number {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return 0;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = Number(lengthPattern.exec(head)?.[1] ?? 0);
  const start = headEnd + END_OF_HEAD.length;
  if (bytes.length < start + length) return 0;
  const status = Number(head.slice(9, 12));
  // 1xx only announces an answer.
  if (status >= 200) {
    onResponse({ status, body: bytes.subarray(start, start + length), closes: closePattern.test(head) });
  }
  return start + length;
}

// A request as bytes, sent unchanged, even if a client library would refuse to send it.

type RawRequest = {
  method?: string;
  path?: string;
  /** In this order, with duplicates. May contain `Host` or not. */
  headers: readonly (readonly [name: string, value: string])[];
  body?: Uint8Array;
};

export function requestBytes({ method = 'POST', path = '/api/webhook', headers, body }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}
