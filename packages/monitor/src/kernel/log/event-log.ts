// The event log as the rest of the daemon sees it: append, query, follow. No other module knows its files, offsets or
// tables. Opening it repairs what a crash left; closing it loses nothing.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WallClock } from '@svc/lib/clock';
import { within } from '@svc/lib/timeout';
import { Failure } from '../failure.ts';
import { type CountQuery, createLineCounter } from './count-lines.ts';
import { type Appended, createDedupe } from './dedupe.ts';
import type { EventCounts } from './event-counts.ts';
import { matchesFilter } from './event-filter.ts';
import type { EventDraft, EventHost, EventLine } from './event-line.ts';
import { findLines, type LineQuery } from './find-lines.ts';
import { createIndexKeeper, type RebuildOptions } from './index-keeper.ts';
import { createLiveTail, type TailOptions } from './live-tail.ts';
import type { LogEntry } from './log-entry.ts';
import type { LogIndex } from './log-index.ts';
import type { LogNotice } from './log-notice.ts';
import type { MissingLines } from './missing-lines.ts';
import { createMonthWriter, type LogDisk } from './month-file.ts';
import { type CorruptLine, createLineReader, type LineLocation } from './read-lines.ts';
import { recoverTail } from './recovery.ts';
import { type Commit, createLineEncoder, createLogWriter, type WriterStats } from './writer.ts';

export type EventLogOptions = {
  eventsFolder: string;
  databaseFile: string;
  clock: WallClock;
  host: EventHost;
  newId: () => string;
  onNotice?: (notice: LogNotice) => void;
  onCommit?: (commit: Commit) => void;
  disk?: LogDisk;
  cut?: (line: EventLine, maxBytes: number) => EventLine;
};

type LinePage = {
  entries: LogEntry[];
  /** The seq to continue from (`until` newest first, `since` oldest first); null when there is no more. */
  next: number | null;
  /** The last line that the page takes into account: before the log's end while the index catches up. */
  indexedTo: number;
};

export type LogStats = WriterStats & {
  indexedTo: number;
  indexFailing: string | null;
  rebuilding: boolean;
  recentDeliveries: number;
  tailReaders: number;
  corruptLines: number;
  /** Lines that the log had and no longer has, unless a person has accepted that. */
  missing: MissingLines[];
};

export type EventLog = {
  /** Resolves when the line is durable. Rejects with `LogNotWritable` when it is not in the log. */
  append: (draft: EventDraft) => Promise<EventLine>;
  /** The same, unless the log has a line of this delivery already. Waits until `ready`. */
  appendOnce: (draft: EventDraft) => Promise<Appended>;
  /** Whether the log has a line of this delivery. Call it after `ready`. */
  hasDelivery: (source: 'codehost' | 'tracker' | 'cli' | 'monitor', deliveryId: string) => boolean;
  list: (query?: LineQuery) => Promise<LinePage>;
  /** Counts over time, from the index alone. */
  counts: (query: CountQuery) => Promise<EventCounts>;
  /** When a line was accepted; undefined when the index does not have it. */
  timeOf: (seq: number) => number | undefined;
  /**
   * The last line, by `seq`, that was accepted at this time or before; 0 if none. Rejects while the index has not
   * caught up.
   */
  lastSeqAt: (time: number) => Promise<number>;
  /** Lines in order: first those after `after`, then new ones as they become durable. */
  subscribe: (options?: TailOptions) => AsyncGenerator<LogEntry[]>;
  /** The relay's position of the newest line that arrived through a channel. Call it after `ready`. */
  cursorOf: (channel: string) => string | null;
  lastSeq: () => number;
  /** Resolves when the index has every line from before the start. */
  ready: Promise<void>;
  reindex: (options?: RebuildOptions) => Promise<void>;
  stats: () => LogStats;
  close: () => Promise<void>;
};

const DEFAULT_LIMIT = 100;

const MAX_LIMIT = 10_000;

/** A line has up to 64 KiB: a page of long lines ends before its limit. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** Lines read before it yields to other work of the daemon. */
const READ_SLICE = 64;

/** How long a query waits for the index to include lines that are durable already. */
const INDEX_TIMEOUT_MS = 500;

export function openEventLog(options: EventLogOptions): EventLog {
  const { eventsFolder: folder, clock } = options;
  const notice = options.onNotice ?? (() => undefined);
  let corruptLines = 0;
  const onCorrupt = (corrupt: CorruptLine): void => {
    corruptLines += 1;
    notice({ kind: 'corrupt-line', ...corrupt });
  };

  function recover() {
    const { tail, torn } = recoverTail({ folder, now: clock.now() });
    for (const tornTail of torn) notice({ kind: 'torn-tail', ...tornTail });
    return tail;
  }

  const end = recover();
  const reader = createLineReader({ folder });
  const tail = createLiveTail({ folder, lastSeq: end.seq, onCorrupt });
  const keeper = createIndexKeeper({
    path: options.databaseFile,
    folder,
    clock,
    tail,
    reader,
    notice,
    onProgress: (lastSeq) => dedupe.noteIndexed(lastSeq),
  });
  const ready = keeper.index().reached(end.seq);
  const month = createMonthWriter({
    folder,
    tail: end,
    recover,
    ...(options.disk && { disk: options.disk }),
  });
  const writer = createLogWriter({
    clock,
    tail: { ...end, seq: Math.max(end.seq, keeper.givenTo()) },
    month,
    encode: createLineEncoder(options),
    onDurable(entries) {
      dedupe.noteDurable(entries);
      tail.push(entries);
    },
    onMissing(missing) {
      // Lines in memory, or in a file that is only still open, are no longer in the log.
      tail.forget();
      reader.close();
      keeper.noteMissing(missing);
    },
    onFailing: (reason) =>
      notice(reason === null ? { kind: 'writable-again' } : { kind: 'not-writable', reason }),
    ...(options.onCommit && { onCommit: options.onCommit }),
  });
  const dedupe = createDedupe({ append: writer.append, index: keeper.index, reader, ready });

  const countLines = createLineCounter();

  /** The index, including the lines that are durable already if that does not take long. */
  async function freshIndex(): Promise<LogIndex> {
    const index = keeper.index();
    if (index.lastSeq() < tail.lastSeq())
      await within(index.reached(tail.lastSeq()), INDEX_TIMEOUT_MS, () => undefined);
    return index;
  }

  async function lastSeqAt(time: number): Promise<number> {
    const wanted = tail.lastSeq();
    const index = await freshIndex();
    if (index.lastSeq() < wanted)
      throw new Failure(
        'busy',
        'The index has not caught up with the event log, so the last event before that time is not known yet.',
        'Try again in a moment, or give an event number instead of a time.',
      );
    return index.lastSeqBefore(time + 1);
  }

  async function list(query: LineQuery = {}): Promise<LinePage> {
    const index = await freshIndex();
    const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const indexedTo = index.lastSeq();
    const { locations, next } = pageOf(findLines(index, query), limit);
    const entries: LogEntry[] = [];
    for (const [position, location] of locations.entries()) {
      if (position % READ_SLICE === READ_SLICE - 1) await nextTurn();
      const entry = reader.read(location);
      if (entry !== null && matchesFilter(entry.line, query)) entries.push(entry);
    }
    return { entries, next, indexedTo };
  }

  return {
    append: writer.append,
    appendOnce: dedupe.appendOnce,
    hasDelivery: (source, deliveryId) => dedupe.has(`${source}:${deliveryId}`),
    list,
    counts: async (query) => countLines(await freshIndex(), query),
    timeOf: (seq) => keeper.index().timeOf(seq),
    lastSeqAt,
    subscribe: tail.subscribe,
    cursorOf: (channel) => keeper.index().relayCursor(channel),
    lastSeq: tail.lastSeq,
    ready,
    reindex: keeper.rebuild,
    stats: () => ({
      ...writer.stats(),
      missing: keeper.missing(),
      indexedTo: keeper.index().lastSeq(),
      indexFailing: keeper.failing(),
      rebuilding: keeper.rebuilding(),
      recentDeliveries: dedupe.recent(),
      tailReaders: tail.readers(),
      corruptLines,
    }),
    async close() {
      await writer.close();
      await keeper.close();
      reader.close();
    },
  };
}

/** As many lines as requested and as a page may hold; `next` is null when there are no more. */
function pageOf(
  found: Iterable<LineLocation>,
  limit: number,
): { locations: LineLocation[]; next: number | null } {
  const locations: LineLocation[] = [];
  let bytes = 0;
  for (const location of found) {
    bytes += location.length;
    const last = locations.at(-1);
    if (last !== undefined && (locations.length === limit || bytes > PAGE_BYTES))
      return { locations, next: last.seq };
    locations.push(location);
  }
  return { locations, next: null };
}
