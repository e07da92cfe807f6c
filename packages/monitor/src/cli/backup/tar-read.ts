// Reads a tar stream, file by file. Only plain files are taken: a link, a device or a folder is refused, and so is
// a header that does not add up.
import { Failure } from '../../errors.ts';

const BLOCK = 512;
const LARGEST_PAX = 64 * 1024;

export type TarEntry = { path: string; size: number; bytes: AsyncIterable<Buffer> };

/** The bytes of an entry are read before the next entry is asked for; what is left of them is passed over. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = createReader(source);
  let pax = new Map<string, string>();
  for (;;) {
    const block = await reader.take(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    checkSum(block);
    const type = block.toString('latin1', 156, 157);
    const size = octal(block, 124, 12);
    if (type === 'x') {
      if (size > LARGEST_PAX) throw damaged('a header of it is too large');
      pax = readPax(await reader.take(size));
      await reader.take(padding(size));
      continue;
    }
    if (type !== '0' && type !== '\0') throw damaged('it holds something that is not a plain file');
    const whole = pax.has('size') ? Number(pax.get('size')) : size;
    if (!Number.isSafeInteger(whole) || whole < 0) throw damaged('a size in it makes no sense');
    const path = pax.get('path') ?? text(block, 0, 100);
    if (text(block, 345, 155) !== '') throw damaged('it was not made by svc');
    pax = new Map();
    const left = { bytes: whole };
    yield { path, size: whole, bytes: reader.stream(left) };
    for await (const _ of reader.stream(left)) continue;
    await reader.take(padding(whole));
  }
}

function createReader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const next = await chunks.next();
    if (next.done === true) throw damaged('it ends too early');
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
  }
  return {
    async take(count: number): Promise<Buffer> {
      while (held.length < count) await more();
      const taken = held.subarray(0, count);
      held = held.subarray(count);
      return taken;
    },
    async *stream(left: { bytes: number }): AsyncGenerator<Buffer> {
      while (left.bytes > 0) {
        if (held.length === 0) await more();
        const piece = held.subarray(0, left.bytes);
        held = held.subarray(piece.length);
        left.bytes -= piece.length;
        yield piece;
      }
    },
  };
}

function checkSum(block: Buffer): void {
  const blank = Buffer.from(block);
  blank.fill(0x20, 148, 156);
  const sum = blank.reduce((total, byte) => total + byte, 0);
  if (sum !== octal(block, 148, 8)) throw damaged('a header of it is damaged');
}

function readPax(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const length = Number(body.toString('latin1', at, space));
    if (space < 0 || !Number.isSafeInteger(length) || length <= 0 || at + length > body.length)
      throw damaged('a header of it is damaged');
    const record = body.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function octal(block: Buffer, at: number, length: number): number {
  const digits = text(block, at, length).trim();
  if (!/^[0-7]+$/.test(digits)) throw damaged('a number in it makes no sense');
  return Number.parseInt(digits, 8);
}

function text(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

export function damaged(why: string): Failure {
  return new Failure(
    'file-unusable',
    `This is not a whole backup: ${why}.`,
    'Nothing was changed. Take another backup.',
  );
}
