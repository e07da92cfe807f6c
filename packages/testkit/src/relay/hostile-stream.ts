// One subscriber's stream, with every freedom that the standard allows and every fault that it does not.
import type { ServerResponse } from 'node:http';
import type { Random } from '../random.ts';

export type Frame = { id?: string; event?: string; data: string };

export type HostileStream = {
  /** Resolves when the whole frame was written; false if the connection ended before that. */
  send: (frame: Frame) => Promise<boolean>;
  /** Writes half of the frame and cuts the connection. */
  cutWithin: (frame: Frame) => void;
  /** Keeps the connection open, and writes nothing until it is resumed. */
  freeze: () => void;
  thaw: () => void;
  sendRaw: (bytes: Uint8Array) => void;
};

const LARGEST_PIECE = 48;

export function createHostileStream(
  response: ServerResponse,
  faults: () => Faults,
  random: Random,
): HostileStream {
  const waiting: { bytes: Buffer; done: (whole: boolean) => void }[] = [];
  let frozen = false;
  let writing = false;
  let begun = false;

  /** The same for a whole frame: a CR followed by an LF would be one line end, not two. */
  function lineEnd(): string {
    const { lineEnd: given } = faults();
    return given === 'mixed' ? random.pick(['\n', '\r\n', '\r']) : given;
  }

  function encode({ id, event, data }: Frame): Buffer {
    const lines: string[] = [];
    if (random.chance(faults().comment)) lines.push(`: ${'still here '.repeat(random.below(4))}`);
    if (id !== undefined) lines.push(`id: ${id}`);
    if (event !== undefined) lines.push(`event: ${event}`);
    for (const part of data.split('\n')) lines.push(`data: ${part}`);
    lines.push('');
    const mark = !begun && faults().byteOrderMark ? '\uFEFF' : '';
    begun = true;
    const ending = lineEnd();
    return Buffer.from(mark + lines.map((line) => line + ending).join(''));
  }

  function* pieces(bytes: Buffer): Generator<Buffer> {
    if (!random.chance(faults().split)) return void (yield bytes);
    // A large frame is not cut everywhere, or it would take minutes.
    const largest = Math.max(LARGEST_PIECE, Math.ceil(bytes.length / 50));
    for (let from = 0; from < bytes.length; ) {
      const length = 1 + random.below(largest);
      yield bytes.subarray(from, from + length);
      from += length;
    }
  }

  const take = () => (frozen ? undefined : waiting.shift());

  async function write(): Promise<void> {
    if (writing) return;
    writing = true;
    for (let next = take(); next !== undefined; next = take()) {
      let first = true;
      for (const piece of pieces(next.bytes)) {
        if (!first) await new Promise((resolve) => setImmediate(resolve));
        first = false;
        if (!response.destroyed) response.write(piece);
      }
      next.done(!response.destroyed);
    }
    writing = false;
  }

  function end(): void {
    response.socket?.end();
    response.socket?.destroySoon();
  }

  return {
    send: (frame) =>
      new Promise((done) => {
        waiting.push({ bytes: encode(frame), done });
        void write();
      }),
    cutWithin(frame) {
      const bytes = encode(frame);
      waiting.push({ bytes: bytes.subarray(0, random.below(bytes.length)), done: end });
      void write();
    },
    freeze() {
      frozen = true;
    },
    thaw() {
      frozen = false;
      void write();
    },
    sendRaw(bytes) {
      response.write(bytes);
    },
  };
}

// What a hostile relay does to deliveries and streams. Chances are per delivery, from 0 to 1.
export type Faults = {
  /** Accepts with 200 and delivers nothing. */
  drop: number;
  duplicate: number;
  /** Delivers after the next one. */
  reorder: number;
  /** Writes the body with its keys in another order: the same JSON, another signature. */
  rewrite: number;
  /** Writes the message over several data lines. */
  pretty: number;
  /** Cuts the connection in the middle of the frame. */
  cut: number;
  /** Writes the bytes in small pieces, cut anywhere. */
  split: number;
  /** Writes a comment before the frame. */
  comment: number;
  lineEnd: '\n' | '\r\n' | '\r' | 'mixed';
  /** Starts the stream with a byte order mark. */
  byteOrderMark: boolean;
};

export const noFaults: Faults = {
  drop: 0,
  duplicate: 0,
  reorder: 0,
  rewrite: 0,
  pretty: 0,
  cut: 0,
  split: 0,
  comment: 0,
  lineEnd: '\n',
  byteOrderMark: false,
};
