// The files of the log: one per UTC month, named so that the order of the names is the order of time.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../errors.ts';
import { COMPRESSED_SUFFIX } from './month-bytes.ts';

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

/** The first millisecond after the month that a file is named for. */
export function endOfMonthFile(file: string): number {
  return endOfMonth(Date.parse(`${file.slice(0, 7)}-01T00:00:00Z`));
}

/** Names of the month files in a folder, oldest first, compressed or not; none when there is no such folder. */
export function listMonthFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).map((name) =>
      name.endsWith(COMPRESSED_SUFFIX) ? name.slice(0, -COMPRESSED_SUFFIX.length) : name,
    );
    return [...new Set(names.filter(isMonthFile))].toSorted();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The same without empty ones: a month that has begun but has no line yet is not there for a reader. */
export function listFilledMonthFiles(folder: string): string[] {
  return listMonthFiles(folder).filter((name) => sizeOf(join(folder, name)) > 0);
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return (stats ?? statSync(path + COMPRESSED_SUFFIX, { throwIfNoEntry: false }))?.size ?? 0;
}
