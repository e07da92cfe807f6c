// The key of a ticket: the same for the same words, in the form of a UUID, which is what the tracker takes as an
// id of its own.
import { createHash } from 'node:crypto';

/** A UUID (version 4 in form) made of the words. */
export function ticketKey(...words: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(words)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
