// Bodies that do not fit into one message of the server. The parts are stored, and acknowledged, before the
// message that names them: whoever can read the head could read the parts when it was written. They lie in
// the same stream and age with it; a head whose parts are gone cannot be told any more, and is a gap.
import { randomBytes } from 'node:crypto';
import type { BodyParts } from '../protocol/stored-frame.ts';
import type { DirectReads } from './direct-read.ts';
import type { Names } from './names.ts';
import type { Publisher } from './publisher.ts';
import { HEADERS_BYTES } from './reply-inbox.ts';

/** Larger messages than this are hard on a cluster, whatever the server allows. */
const LARGEST_MESSAGE = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 4;

/** The longest frame that travels in one message. */
export function largestFrame(maxPayload: number): number {
  return Math.min(maxPayload, LARGEST_MESSAGE) - HEADERS_BYTES;
}

/** `name` is in the subject of every part, so that what turned out to be a repetition can be removed. */
export type StoredParts = BodyParts & { name: string };

export async function storeParts(given: {
  publisher: Publisher;
  names: Names;
  shard: number;
  channelId: string;
  body: Buffer;
  partBytes: number;
  deadlineMs: number;
}): Promise<StoredParts> {
  const { publisher, names, shard, channelId, body, partBytes } = given;
  const name = randomBytes(12).toString('hex');
  const count = Math.ceil(body.length / partBytes);
  const sequences: number[] = Array.from({ length: count }, () => 0);
  const deadline = performance.now() + given.deadlineMs;
  let next = 0;
  async function storeSome(): Promise<void> {
    while (next < count) {
      const part = next;
      next += 1;
      const { seq } = await publisher.publish({
        subject: names.part(shard, channelId, name, part),
        payload: body.subarray(part * partBytes, (part + 1) * partBytes),
        messageId: `${name}.${part}`,
        deadlineMs: deadline - performance.now(),
      });
      sequences[part] = seq;
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARTS_AT_ONCE, count) }, storeSome));
  return { name, size: body.length, sequences };
}

/** Undefined when a part is missing, or is not what the head says. */
export async function readParts(
  reads: DirectReads,
  stream: string,
  partsPrefix: string,
  { size, sequences }: BodyParts,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < sequences.length; at += PARTS_AT_ONCE) {
    const some = sequences.slice(at, at + PARTS_AT_ONCE);
    for (const part of await Promise.all(some.map((seq) => reads.bySequence(stream, seq)))) {
      if (part === undefined || !part.subject.startsWith(partsPrefix)) return undefined;
      parts.push(part.data);
    }
  }
  const body = Buffer.concat(parts);
  return body.length === size ? body : undefined;
}
