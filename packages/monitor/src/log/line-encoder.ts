// Turns a draft into a line and its text. Fields are named one by one, so that a draft that happens to be
// a line already (another log's, say) cannot bring a `seq` of its own.
import { cutToFit, type EventDraft, type EventHost, type EventLine, MAX_EVENT_LINE_BYTES } from '@svc/core';

/** With its newline a line is at most 64 KiB. */
const LONGEST_TEXT = MAX_EVENT_LINE_BYTES - 1;

type EncodedLine = { line: EventLine; text: string };
export type LineEncoder = (draft: EventDraft, seq: number, ts: string) => EncodedLine;

/** The encoder throws when a draft is not JSON (a cycle, a BigInt) or cannot be cut to size: a caller's bug. */
export function createLineEncoder({
  host,
  newId,
  cut = cutToFit,
}: {
  host: EventHost;
  newId: () => string;
  cut?: (line: EventLine, maxBytes: number) => EventLine;
}): LineEncoder {
  return (draft, seq, ts) => {
    const line: EventLine = {
      seq,
      ts,
      id: newId(),
      schemaVersion: 1,
      event: draft.event,
      source: draft.source,
      via: draft.via,
      host,
      scope: draft.scope,
      detail: draft.detail,
    };
    if (draft.deliveryId !== undefined) line.deliveryId = draft.deliveryId;
    if (draft.signed !== undefined) line.signed = draft.signed;
    if (draft.repeatOf !== undefined) line.repeatOf = draft.repeatOf;
    if (draft.occurredAt !== undefined) line.occurredAt = draft.occurredAt;
    if (draft.relay !== undefined) line.relay = draft.relay;
    if (draft.actor !== undefined) line.actor = draft.actor;
    if (draft.reporter !== undefined) line.reporter = draft.reporter;
    const text = JSON.stringify(line);
    if (fits(text)) return { line, text };
    const shorter = cut(line, LONGEST_TEXT);
    const shorterText = JSON.stringify(shorter);
    if (!fits(shorterText))
      throw new RangeError(`An event of ${text.length} characters cannot be cut to fit`);
    return { line: shorter, text: shorterText };
  };
}

function fits(text: string): boolean {
  return text.length * 3 <= LONGEST_TEXT || Buffer.byteLength(text) <= LONGEST_TEXT;
}
