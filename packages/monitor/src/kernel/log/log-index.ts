// Keeps the index at the log's end. It is a reader of the live tail like any other, outside the path of the
// acknowledgement: at start it reads what it does not have from the files, then line by line from memory.
// Its modes:
// - behind: there are durable lines that it does not have. Entered at start and with every commit.
// - current: it has all lines. `reached` resolves here.
// - failing: a block could not be stored. Tries again every second; the lines wait in the log, not in memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '@svc/lib/errors';
import { createProgress } from '@svc/lib/progress';
import { pause } from '@svc/lib/timeout';
import {
  type BlockLines,
  createOpenBlock,
  firstIndex,
  locationAt,
  type OpenBlock,
  seqAt,
  timeAt,
} from './index-block.ts';
import type { IndexStore } from './index-store.ts';
import type { TailOptions } from './live-tail.ts';
import type { LogEntry } from './log-entry.ts';
import type { MissingLines } from './missing-lines.ts';
import type { LineLocation } from './read-lines.ts';

export type LogIndex = {
  store: IndexStore;
  openBlock: () => OpenBlock | null;
  lastSeq: () => number;
  /** Resolves when this line is in the index; rejects when the index stops first. */
  reached: (seq: number) => Promise<void>;
  locationOf: (seq: number) => LineLocation | null;
  timeOf: (seq: number) => number | undefined;
  /** No line before this one was accepted at this time or later; after the last line if none was. */
  firstSeqFrom: (time: number) => number;
  /** The last line, by `seq`, that was accepted before this time; 0 if none. */
  lastSeqBefore: (time: number) => number;
  /** Lines whose delivery has this term. */
  deliverySeqs: (term: number) => number[];
  relayCursor: (channel: string) => string | null;
  topics: () => string[];
  /** Seqs before its end that no line has; at most some hundred ranges. */
  holes: () => readonly MissingLines[];
  failing: () => string | null;
  /** Stops reading and stores what is in memory. */
  close: () => Promise<void>;
};

export type LogIndexOptions = {
  store: IndexStore;
  subscribe: (options: TailOptions) => AsyncGenerator<LogEntry[]>;
  /** Called after every batch of lines. */
  onProgress?: (lastSeq: number) => void;
  onFailing?: (reason: string | null) => void;
  retryMs?: number;
};

export function createLogIndex({
  store,
  subscribe,
  onProgress,
  onFailing,
  retryMs = 1_000,
}: LogIndexOptions): LogIndex {
  const stop = new AbortController();
  const stored = store.lastBlock();
  let lastSeq = stored === null ? 0 : seqAt(stored, stored.count - 1);
  const progress = createProgress(lastSeq, 'The index was closed');
  const holes = holesIn(store);
  let block: OpenBlock | null = null;
  let failing: string | null = null;

  function setFailing(reason: string | null): void {
    if (reason === failing) return;
    failing = reason;
    onFailing?.(reason);
  }

  async function pauseAfter(cause: unknown): Promise<void> {
    setFailing(messageOf(cause));
    await pause(retryMs, stop.signal);
  }

  async function put(full: OpenBlock): Promise<void> {
    for (;;) {
      try {
        await store.write(full);
        setFailing(null);
        return;
      } catch (error) {
        await pauseAfter(error);
        if (stop.signal.aborted) return;
      }
    }
  }

  async function add(entries: readonly LogEntry[]): Promise<void> {
    for (const entry of entries) {
      if (block?.add(entry) !== true) {
        if (block !== null) await put(block);
        if (failing !== null) return;
        block = createOpenBlock(entry);
        block.add(entry);
      }
      noteHole(holes, lastSeq, entry.line.seq);
      lastSeq = entry.line.seq;
    }
    progress.reach(lastSeq);
    onProgress?.(lastSeq);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const options = { after: lastSeq, signal: stop.signal, whenSlow: 'read-file' } as const;
        for await (const entries of subscribe(options)) {
          // Callers that wait for these lines to be durable go first.
          await nextTurn();
          await add(entries);
        }
      } catch (error) {
        await pauseAfter(error);
      }
    }
  }

  const running = run();

  /** The block of a line and its position in it; null when it is not in the index. */
  function find(seq: number): { lines: BlockLines; index: number } | null {
    const lines = block !== null && seq >= block.lines.firstSeq ? block.lines : store.blockOf(seq);
    if (lines === null) return null;
    const index = firstIndex(lines, (at) => seqAt(lines, at) >= seq);
    return index < lines.count && seqAt(lines, index) === seq ? { lines, index } : null;
  }

  function locationOf(seq: number): LineLocation | null {
    const found = find(seq);
    return found && locationAt(found.lines, found.index);
  }

  return {
    store,
    openBlock: () => block,
    lastSeq: () => lastSeq,
    locationOf,
    timeOf(seq) {
      const found = find(seq);
      return found === null ? undefined : timeAt(found.lines, found.index);
    },
    holes: () => holes,
    failing: () => failing,
    reached: progress.reached,
    firstSeqFrom: (time) =>
      store.firstSeqFrom(time) ??
      (block !== null && block.lastTime() >= time ? block.lines.firstSeq : lastSeq + 1),
    lastSeqBefore(time) {
      const lines =
        block !== null && block.lines.firstTime < time ? block.lines : store.lastBlockBefore(time);
      return lines === null ? 0 : seqAt(lines, firstIndex(lines, (at) => timeAt(lines, at) >= time) - 1);
    },
    deliverySeqs(name) {
      const recent = block?.deliveries.get(name);
      const older = store.deliverySeqs(name);
      return recent === undefined ? older : [...older, recent];
    },
    relayCursor: (channel) => block?.relay.get(channel)?.id ?? store.relay(channel),
    topics: () => [...new Set([...store.topics(), ...(block?.topics ?? [])])],
    async close() {
      stop.abort();
      await running;
      progress.close();
      if (block !== null && block.lines.count > 0) await put(block);
    },
  };
}

const MOST_HOLES = 500;

function noteHole(holes: MissingLines[], before: number, seq: number): void {
  if (seq > before + 1 && holes.length < MOST_HOLES) holes.push({ from: before + 1, to: seq - 1 });
}

function noteHolesInside(holes: MissingLines[], lines: BlockLines): void {
  for (let index = 1; index < lines.count; index += 1)
    noteHole(holes, seqAt(lines, index - 1), seqAt(lines, index));
}

/** Between blocks, and inside blocks that have fewer lines than they span. */
function holesIn(store: IndexStore): MissingLines[] {
  const holes: MissingLines[] = [];
  let before = 0;
  for (const { firstSeq, lastSeq, count } of store.spansIn({ low: 0, high: Number.MAX_SAFE_INTEGER })) {
    noteHole(holes, before, firstSeq);
    const lines = lastSeq - firstSeq + 1 > count ? store.blockOf(firstSeq) : null;
    if (lines !== null) noteHolesInside(holes, lines);
    before = lastSeq;
  }
  return holes;
}
