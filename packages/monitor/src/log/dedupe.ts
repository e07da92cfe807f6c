// One delivery, one line, however often and by whichever way it arrives. Where a delivery can be:
// - in flight: its line is being written. A second arrival waits for the first's result and shares it.
// - recent: its line is durable, and the index has not seen it yet.
// - indexed. Found by a hash, and then verified against the line itself.
// It counts as seen only once its line is durable; a line that could not be written was never seen.
// The same signed bytes under another id are a line of their own, which says whose repeat it is.

import type { EventDraft, EventLine } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { within } from '@svc/lib/timeout';
import { deliveryKey, signedKey, term } from './index-block.ts';
import { type LogEntry, LogNotWritable } from './log-entry.ts';

import type { LogIndex } from './log-index.ts';
import type { LineReader } from './read-lines.ts';

/** `id` and `seq` are those of the one line, the first's. */
export type Appended =
  | { duplicate: false; id: string; seq: number; line: EventLine }
  | { duplicate: true; id: string; seq: number };

export type Dedupe = {
  appendOnce: (draft: EventDraft) => Promise<Appended>;
  /** Whether a line of this delivery is in the log, or about to be. */
  has: (key: string) => boolean;
  noteDurable: (entries: readonly LogEntry[]) => void;
  noteIndexed: (lastSeq: number) => void;
  recent: () => number;
};

type Line = { id: string; seq: number };

export function createDedupe({
  append,
  index,
  reader,
  ready,
  maxRecent = 400_000,
  timeoutMs = 10_000,
}: {
  append: (draft: EventDraft) => Promise<EventLine>;
  /** The index in use now: a rebuild puts another in its place. */
  index: () => Pick<LogIndex, 'deliverySeqs' | 'placeOf'>;
  reader: LineReader;
  /** Resolves when the index has seen all lines of before the start: no answer is true earlier. */
  ready: Promise<void>;
  maxRecent?: number;
  /** How long a delivery waits for that before it is refused. */
  timeoutMs?: number;
}): Dedupe {
  const inFlight = new Map<string, Promise<EventLine>>();
  const recent = new Map<string, Line>();
  let isReady = false;
  void whenReady();

  async function whenReady(): Promise<void> {
    isReady = await ready.then(
      () => true,
      () => false,
    );
  }

  async function becomingReady(): Promise<void> {
    await within(ready, timeoutMs, () => {
      throw new LogNotWritable('the index is still being brought up to date', {
        remedy: 'Wait and send again.',
      });
    });
  }

  function findIndexed(key: string): Line | null {
    for (const seq of index().deliverySeqs(term('delivery', key))) {
      const place = index().placeOf(seq);
      const line = place === null ? undefined : reader.read(place)?.line;
      if (line !== undefined && (deliveryKey(line) === key || signedKey(line) === key))
        return { id: line.id, seq };
    }
    return null;
  }

  function find(key: string): Line | null {
    const known = recent.get(key);
    if (known !== undefined) return known;
    try {
      return findIndexed(key);
    } catch (error) {
      throw new LogNotWritable(`the index cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Marked where the same bytes are in a line already, or on their way into one. */
  function write(draft: EventDraft): Promise<EventLine> {
    const signed = signedKey(draft);
    if (signed === undefined) return append(draft);
    const first = inFlight.get(signed);
    if (first !== undefined)
      return first.then(
        ({ seq }) => append({ ...draft, repeatOf: seq }),
        () => write(draft),
      );
    const known = find(signed);
    if (known !== null) return append({ ...draft, repeatOf: known.seq });
    const writing = append(draft);
    inFlight.set(signed, writing);
    return writing.finally(() => inFlight.delete(signed));
  }

  async function appendFirst(key: string, draft: EventDraft): Promise<Appended> {
    const writing = write(draft);
    inFlight.set(key, writing);
    try {
      const line = await writing;
      return { duplicate: false, id: line.id, seq: line.seq, line };
    } finally {
      inFlight.delete(key);
    }
  }

  return {
    async appendOnce(draft) {
      if (!isReady) await becomingReady();
      const key = deliveryKey(draft);
      if (key === undefined) {
        const line = await append(draft);
        return { duplicate: false, id: line.id, seq: line.seq, line };
      }
      const first = inFlight.get(key);
      if (first !== undefined) {
        const { id, seq } = await first;
        return { duplicate: true, id, seq };
      }
      const known = find(key);
      if (known !== null) return { duplicate: true, id: known.id, seq: known.seq };
      if (recent.size >= maxRecent)
        throw new LogNotWritable('the index is too far behind to tell duplicates');
      return await appendFirst(key, draft);
    },
    has: (key) => inFlight.has(key) || find(key) !== null,
    noteDurable(entries) {
      for (const { line } of entries)
        for (const key of [deliveryKey(line), signedKey(line)])
          if (key !== undefined && !recent.has(key)) recent.set(key, { id: line.id, seq: line.seq });
    },
    noteIndexed(lastSeq) {
      for (const [key, { seq }] of recent) {
        if (seq > lastSeq) return;
        recent.delete(key);
      }
    },
    recent: () => recent.size,
  };
}
