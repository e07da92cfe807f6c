// Reads what a line says: an empty text is absent, a long one is cut, and times are compared.
import type { FoldedLine } from './board-types.ts';

const LONGEST_TEXT = 1000;
/** `2026-01-01T00:00:00Z` */
const PLAIN = 20;

export function short(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return text.length <= LONGEST_TEXT ? text : text.slice(0, LONGEST_TEXT);
}

const MOST_TEXTS = 1000;

/** The texts of a list without empty ones. */
export function textsIn(texts: readonly string[] = []): string[] {
  return texts.slice(0, MOST_TEXTS).filter((text) => text !== '');
}

type When = Pick<FoldedLine, 'occurredAt' | 'ts'>;

/** When it happened upstream where that is known, else when it was accepted. */
export function timeOf(line: When): string {
  return line.occurredAt ?? line.ts;
}

/**
 * When it happened upstream, for telling late lines from new ones; null when that was not told. Never later
 * than the line was accepted: a time in the future would make everything after it look late.
 */
export function upstreamTime(line: When): string | null {
  if (line.occurredAt === undefined) return null;
  return isOlder(line.ts, line.occurredAt) ? line.ts : line.occurredAt;
}

/** Whether the times tell that one came before the other; unknown and equal times tell nothing. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return false;
  // Up to the second, times in UTC compare as texts: almost all are told apart by that, at a tenth of the cost.
  const isPlain = one.endsWith('Z') && other.endsWith('Z') && one.length >= PLAIN && other.length >= PLAIN;
  if (isPlain && !one.startsWith(other.slice(0, PLAIN - 1))) return one < other;
  return Date.parse(one) < Date.parse(other);
}

/** The later of two times; the second when they do not tell. */
export function later(one: string | null, other: string | null): string | null {
  if (other === null) return one;
  return isOlder(other, one) ? one : other;
}

/** The list with the entry that `isSame` finds replaced, or with the new one at its end; oldest go first. */
export function withEntry<Entry>(
  entries: readonly Entry[],
  isSame: (entry: Entry) => boolean,
  entry: Entry,
  most: number,
): Entry[] {
  const index = entries.findIndex(isSame);
  if (index >= 0) return entries.with(index, entry);
  return entries.length < most ? [...entries, entry] : [...entries.slice(1 - most), entry];
}
