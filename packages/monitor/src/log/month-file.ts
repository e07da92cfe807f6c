// The files of the log: one per UTC month, named so that the order of the names is the order of time.
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';

const pattern = /^\d{4}-(?:0[1-9]|1[0-2])\.jsonl$/;

/** `2026-11.jsonl` for any millisecond of that month, UTC. */
export function monthFileName(time: number): string {
  return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;
}

function isMonthFile(name: string): boolean {
  return pattern.test(name);
}

/** The first millisecond of the month after this one: until then `monthFileName` stays the same. */
export function endOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Names of the month files in a folder, oldest first; none when there is no such folder. */
export function listMonthFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isMonthFile).toSorted();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The same without empty ones: a month that has begun but has no line yet is not there for a reader. */
export function listFilledMonthFiles(folder: string): string[] {
  return listMonthFiles(folder).filter(
    (name) => (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

export type MonthBytes = {
  /** Grows while the month is written. */
  size: () => number;
  /** Like `readSync`: how many bytes were read, 0 at the end. */
  read: (target: Buffer, start: number, length: number, position: number) => number;
  close: () => void;
};

/** Null when the month is not there. */
export function openMonth(folder: string, file: string): MonthBytes | null {
  try {
    const descriptor = openSync(join(folder, file), 'r');
    return {
      size: () => fstatSync(descriptor).size,
      read: (target, start, length, position) => readSync(descriptor, target, start, length, position),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
