// One delivery, one line, however often and by whatever route it arrives. A delivery is:
// - in flight: its line is being written. A second arrival waits for the first's result and shares it.
// - recent: its line is durable, and the index does not have it yet.
// - indexed: found by a hash, then verified against the line itself.
// It counts as received only once its line is durable; a line that could not be written does not count. The same signed
// bytes under another id get their own line, which names the line that they repeat.
import { messageOf } from '@svc/lib/errors';
import { within } from '@svc/lib/timeout';
import type { EventDraft, EventLine } from './event-line.ts';
import { deliveryKey, signedKey, term } from './index-block.ts';
import { type LogEntry, LogNotWritable } from './log-entry.ts';

import type { LogIndex } from './log-index.ts';
import type { LineReader } from './read-lines.ts';

/** `id` and `seq` of the one line: the first. */
export type Appended =
  | { duplicate: false; id: string; seq: number; line: EventLine }
  | { duplicate: true; id: string; seq: number };

export type Dedupe = {
  appendOnce: (draft: EventDraft) => Promise<Appended>;
  /** Whether the log has a line of this delivery, or is about to. */
  has: (key: string) => boolean;
  noteDurable: (entries: readonly LogEntry[]) => void;
  noteIndexed: (lastSeq: number) => void;
  recent: () => number;
};

type Line = { id: string; seq: number };

const MOST_RECENT = 400_000;

export function createDedupe({
  append,
  index,
  reader,
  ready,
  timeoutMs = 10_000,
}: {
  append: (draft: EventDraft) => Promise<EventLine>;
  /** The index in use; a rebuild replaces it. */
  index: () => Pick<LogIndex, 'deliverySeqs' | 'locationOf'>;
  reader: LineReader;
  /** Resolves when the index has all lines from before the start; earlier answers would be wrong. */
  ready: Promise<void>;
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
      throw new LogNotWritable('the index is still catching up', {
        remedy: 'Send it again in a moment.',
      });
    });
  }

  function findIndexed(key: string): Line | null {
    for (const seq of index().deliverySeqs(term('delivery', key))) {
      const location = index().locationOf(seq);
      const line = location === null ? undefined : reader.read(location)?.line;
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

  /** Marked as a repeat when the same bytes are in a line already or are being written. */
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
      if (recent.size >= MOST_RECENT)
        throw new LogNotWritable('the index is too far behind to detect duplicates');
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
