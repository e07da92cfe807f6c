// A line of the log together with its location. Parsing is strict: what is not a valid line is null.
import { rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';
import { readTextNow } from '@svc/lib/paths';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { Failure } from '../failure.ts';
import type { EventHost, EventLine } from './event-line.ts';

/** A position in the log: a month file and a byte offset. */
export type Position = { file: string; offset: number };

/** A whole line as bytes on disk; `length` is in bytes, without the newline. */
export type RawLine = Position & { text: string; length: number };

export type LogEntry = RawLine & { line: EventLine };

/** The end of the log: where the next line goes, and the seq and time of the last line. `seq` 0 is an empty log. */
export type LogTail = { file: string | null; length: number; seq: number; time: number };

/** Longer than any line can be: this many bytes without a newline are not a line. */
export const LONGEST_LINE_BYTES = 1024 * 1024;

/** A commit takes no further line once it has this many bytes. */
export const LARGEST_COMMIT_BYTES = 1024 * 1024;

export function parseEntry(raw: RawLine): LogEntry | null {
  const line = parseLine(raw.text);
  return line === null
    ? null
    : { line, text: raw.text, file: raw.file, offset: raw.offset, length: raw.length };
}

/** Checks only what every reader relies on: millions of lines are parsed this way. */
export function parseLine(text: string): EventLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isLine(value) ? value : null;
}

function isLine(value: unknown): value is EventLine {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Partial<Record<keyof EventLine, unknown>>;
  return (
    isSeq(line.seq) &&
    typeof line.ts === 'string' &&
    typeof line.id === 'string' &&
    typeof line.event === 'string' &&
    typeof line.source === 'string' &&
    isObject(line.scope) &&
    isObject(line.detail) &&
    (line.deliveryId === undefined || typeof line.deliveryId === 'string') &&
    (line.relay === undefined || isRelay(line.relay))
  );
}

function isSeq(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isRelay(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'channel' in value && typeof value.channel === 'string' && 'id' in value && typeof value.id === 'string'
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const head = /^\{"seq":([1-9]\d{0,15}),"ts":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)",/;

/** `seq` and time of a line, without parsing the whole line if the fields are in the writer's order. */
export function parseHead(text: string): { seq: number; time: number } | null {
  const match = head.exec(text);
  if (match !== null && text.endsWith('}'))
    return { seq: Number(match[1]), time: Date.parse(match[2] ?? '') };
  const line = parseLine(text);
  if (line === null) return null;
  const time = Date.parse(line.ts);
  return Number.isNaN(time) ? null : { seq: line.seq, time };
}

// Failures of the log that a caller has to handle.

/**
 * The event is not in the log: the disk is full or failing, or the log cannot keep up. It must not be acknowledged to
 * anyone. The log tries again with the next append; nothing has to be restarted.
 */
export class LogNotWritable extends Failure {
  constructor(reason: string, options: { cause?: unknown; remedy?: string } = {}) {
    const remedy = options.remedy ?? 'Free disk space and check the folder of the event log.';
    super('log-not-writable', `The event log cannot be written: ${reason}`, remedy, { cause: options.cause });
    this.name = 'LogNotWritable';
  }
}

/** A reader of the live tail that did not keep up. It resumes after `lastSeq` and misses nothing. */
export class TailTooSlow extends Error {
  readonly code = 'tail-too-slow';
  readonly lastSeq: number;

  constructor(lastSeq: number) {
    super(`Too slow for the live tail; resume after seq ${lastSeq}.`);
    this.name = 'TailTooSlow';
    this.lastSeq = lastSeq;
  }
}

// This machine's identity in its log: a permanent id, and its name.

/** `onSetAside` gets the new path of a file that holds no id: without it the id was lost silently. */
export async function identifyHost(dataDir: string, onSetAside?: (path: string) => void): Promise<EventHost> {
  const file = join(dataDir, 'host-id');
  const known = ifPresentSync(() => readTextNow(file).trim());
  if (known !== undefined && /^[0-9a-f-]{36}$/.test(known)) return { id: known, name: hostname() };
  if (known !== undefined) {
    // A link is moved, not what it leads to.
    const aside = `${file}.damaged-${crypto.randomUUID()}`;
    await rename(file, aside);
    onSetAside?.(aside);
  }
  const id = crypto.randomUUID();
  await writeFileAtomically(file, `${id}\n`, { mode: 0o600, folderMode: 0o700 });
  return { id, name: hostname() };
}
