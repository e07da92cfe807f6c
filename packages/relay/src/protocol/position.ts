// Positions on the wire: `<epoch>.<seq>` or `<epoch>-<check>.<seq>`, as `Last-Event-ID`, `?since=` and SSE ids
// carry them. For a client the whole before the point is the epoch.
import type { Position } from '../engine/engine.ts';

const form = /^([A-Za-z0-9_]{1,48})(?:-([a-z0-9]{1,12}))?\.(\d{1,16})$/;

/** `formatPosition({ epoch: 'm3k9', seq: 17 })` is `m3k9.17`. */
export function formatPosition({ epoch, seq, check }: Position): string {
  return check === undefined ? `${epoch}.${seq}` : `${epoch}-${check}.${seq}`;
}

/** Undefined for anything else, such as the public relay's `17`. */
export function parsePosition(text: string | undefined): Position | undefined {
  const match = text === undefined ? null : form.exec(text);
  if (match === null) return undefined;
  const [, epoch = '', check, digits] = match;
  const seq = Number(digits);
  if (!Number.isSafeInteger(seq)) return undefined;
  return check === undefined ? { epoch, seq } : { epoch, seq, check };
}

/** What tells the delivery with this message id from another that was given the same sequence: FNV-1a. */
export function checkOf(messageId: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < messageId.length; at += 1) {
    hash = Math.imul(hash ^ messageId.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
