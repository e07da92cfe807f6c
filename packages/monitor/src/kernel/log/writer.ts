// The only writer of the log, with group commit: events that arrive while the disk is busy go out together in one write
// and one sync. A caller learns of success only when its line would survive a power cut.
// - `seq` increases by one per line, across restarts and months. The numbers of a failed batch are used again; those of
//   removed lines are not, so the gap shows which are missing.
// - `ts` never goes back while the daemon runs: when the clock does, lines keep the latest time so far until it has
//   caught up. A start accepts the clock again (`clock.ts`), so `ts` can go back there.
// - The file is that of the line's month, or the newest one if that is of a later month: the order of the files is the
//   order of `seq`, whatever the clock did.
import type { WallClock } from '@svc/lib/clock';
import { asError, messageOf } from '@svc/lib/errors';
import { timeToStartFrom } from './clock.ts';
import { cutToFit } from './cut-to-fit.ts';
import { type EventDraft, type EventHost, type EventLine, MAX_EVENT_LINE_BYTES } from './event-line.ts';
import { LARGEST_COMMIT_BYTES, type LogEntry, LogNotWritable, type LogTail } from './log-entry.ts';
import type { MissingLines } from './missing-lines.ts';
import { endOfMonth, type MonthWriter, monthFileName } from './month-file.ts';

export type Commit = { lines: number; bytes: number; milliseconds: number };

export type WriterStats = {
  queued: number;
  commits: number;
  lines: number;
  bytes: number;
  failedCommits: number;
  lastCommitMs: number;
  lastSeq: number;
  file: string;
  fileBytes: number;
  /** Why the last commit failed, if none has succeeded since. */
  failing: string | null;
  /** How far the clock is behind the last line, after it was set back. */
  clockBehindMs: number;
  /** The file is not as the last commit left it; the next one finds the log's end again. */
  fileChanged: boolean;
};

export type LogWriter = {
  append: (draft: EventDraft) => Promise<EventLine>;
  stats: () => WriterStats;
  /** Refuses new lines, and resolves when all accepted ones are settled. */
  close: () => Promise<void>;
};

export type LogWriterOptions = {
  clock: WallClock;
  tail: LogTail;
  encode: LineEncoder;
  month: MonthWriter;
  /** Called once per commit, when its lines are durable and before their callers are answered. */
  onDurable: (entries: LogEntry[]) => void;
  onCommit?: (commit: Commit) => void;
  /** Called when the file was not as we left it, and these lines are no longer in the log. */
  onMissing?: (missing: MissingLines) => void;
  /** Called when the log stops being writable, and with null when it is writable again. */
  onFailing?: (reason: string | null) => void;
  monotonic?: () => number;
  /** With this many lines waiting the log refuses more: the disk is stuck. */
  maxQueued?: number;
  maxBatchLines?: number;
};

type Waiting = {
  draft: EventDraft;
  resolve: (line: EventLine) => void;
  reject: (error: Error) => void;
};

const LARGEST_LINE = 64 * 1024;

export function createLogWriter({
  clock,
  tail,
  encode,
  month,
  onDurable,
  onCommit,
  onMissing,
  onFailing,
  monotonic = () => performance.now(),
  maxQueued = 50_000,
  maxBatchLines = 1024,
}: LogWriterOptions): LogWriter {
  const buffer = Buffer.allocUnsafe(LARGEST_COMMIT_BYTES + LARGEST_LINE);
  let queue: Waiting[] = [];
  let running: Promise<void> | null = null;
  let closed = false;
  let lastSeq = tail.seq;
  const time = createLineTime(clock, tail.time);
  const counts = { commits: 0, lines: 0, bytes: 0, failedCommits: 0, lastCommitMs: 0 };
  let failing: string | null = null;

  function setFailing(reason: string | null): void {
    if (failing === reason) return;
    failing = reason;
    onFailing?.(reason);
  }

  /** Waits one turn of the event loop first, so all deliveries of that turn share a commit. */
  async function run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (queue.length > 0) await commit();
    } finally {
      running = null;
    }
  }

  async function commit(): Promise<void> {
    const startedAt = monotonic();
    const taken: Waiting[] = [];
    let entries: LogEntry[];
    let bytes: number;
    try {
      const now = ready();
      entries = fill(taken, now.ts);
      const last = entries.at(-1);
      if (last === undefined) return;
      bytes = last.offset + last.length + 1 - month.length();
      await month.write(buffer.subarray(0, bytes));
      lastSeq = last.line.seq;
      time.keep(now.time);
    } catch (error) {
      fail(taken.length > 0 ? taken : takeAll(), error);
      return;
    }
    succeed(taken, entries, { lines: entries.length, bytes, milliseconds: monotonic() - startedAt });
  }

  function ready() {
    const now = time.next();
    const found = month.ready(now.file);
    if (found === null) return now;
    // Numbers are not reused: readers have seen the lines that had them.
    if (found.seq < lastSeq) onMissing?.({ from: found.seq + 1, to: lastSeq });
    lastSeq = Math.max(lastSeq, found.seq);
    time.keep(found.time);
    const later = time.next();
    month.ready(later.file);
    return later;
  }

  /** Encodes the waiting drafts into the buffer. A draft that cannot be encoded fails alone. */
  function fill(taken: Waiting[], ts: string): LogEntry[] {
    const entries: LogEntry[] = [];
    const file = month.file();
    const start = month.length();
    let length = 0;
    let tried = 0;
    for (const waiting of queue) {
      if (entries.length >= maxBatchLines || length >= buffer.length - LARGEST_LINE) break;
      tried += 1;
      try {
        const { line, text } = encode(waiting.draft, lastSeq + entries.length + 1, ts);
        const bytes = buffer.write(text, length);
        buffer[length + bytes] = 0x0a;
        entries.push({ line, text, file, offset: start + length, length: bytes });
        taken.push(waiting);
        length += bytes + 1;
      } catch (error) {
        waiting.reject(asError(error));
      }
    }
    queue = tried === queue.length ? [] : queue.slice(tried);
    return entries;
  }

  function takeAll(): Waiting[] {
    const all = queue;
    queue = [];
    return all;
  }

  function succeed(taken: Waiting[], entries: LogEntry[], done: Commit): void {
    counts.commits += 1;
    counts.lines += done.lines;
    counts.bytes += done.bytes;
    counts.lastCommitMs = done.milliseconds;
    setFailing(null);
    try {
      onDurable(entries);
      onCommit?.(done);
    } finally {
      for (const [index, waiting] of taken.entries()) {
        const entry = entries[index];
        if (entry !== undefined) waiting.resolve(entry.line);
      }
    }
  }

  function fail(taken: Waiting[], cause: unknown): void {
    const reason = messageOf(cause);
    const error = new LogNotWritable(reason, { cause });
    counts.failedCommits += 1;
    for (const waiting of taken) waiting.reject(error);
    setFailing(reason);
  }

  return {
    append(draft) {
      if (closed) return Promise.reject(new LogNotWritable('the daemon is stopping'));
      if (queue.length >= maxQueued) {
        return Promise.reject(new LogNotWritable(`${maxQueued} lines are waiting for the disk`));
      }
      return new Promise((resolve, reject) => {
        queue.push({ draft, resolve, reject });
        running ??= run();
      });
    },
    stats: () => ({
      queued: queue.length,
      ...counts,
      lastSeq,
      file: month.file(),
      fileBytes: month.length(),
      failing,
      clockBehindMs: time.behind(),
      fileChanged: running === null && !closed && !month.isAsLeft(),
    }),
    async close() {
      closed = true;
      await running;
      month.close();
    },
  };
}

/** The time of lines: never earlier than that of the line before, except for the first after a start. */
function createLineTime(clock: WallClock, newestLine: number) {
  let last = timeToStartFrom(newestLine, clock.now());
  let current = { time: -1, ts: '', file: '' };
  let monthEnds = 0;
  return {
    next() {
      const time = Math.max(clock.now(), last);
      if (time === current.time) return current;
      const file = time < monthEnds && time > current.time ? current.file : monthFileName(time);
      monthEnds = endOfMonth(time);
      current = { time, ts: new Date(time).toISOString(), file };
      return current;
    },
    keep(time: number) {
      last = Math.max(last, time);
    },
    behind: () => Math.max(0, last - clock.now()),
  };
}

// Turns a draft into a line and its text. Fields are copied one by one, so a draft that is already a line (of another
// log, for example) cannot bring its own `seq`.

/** With its newline a line has at most 64 KiB. */
const LONGEST_TEXT = MAX_EVENT_LINE_BYTES - 1;

type EncodedLine = { line: EventLine; text: string };
export type LineEncoder = (draft: EventDraft, seq: number, ts: string) => EncodedLine;

/** Throws when a draft is not JSON (a cycle, a BigInt) or cannot be shortened to fit: a caller's bug. */
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
