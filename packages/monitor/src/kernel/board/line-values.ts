// Reads texts and times of a line: an empty text is absent, a long one is cut.
import type { FoldedLine } from './board.ts';

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

/** When it happened upstream, if known, else when it was accepted. */
export function timeOf(line: When): string {
  return line.occurredAt ?? line.ts;
}

/**
 * When it happened upstream, to distinguish late lines from new ones; null when unknown. Never later than the line was
 * accepted: a time in the future would make every later line look late.
 */
export function upstreamTime(line: When): string | null {
  if (line.occurredAt === undefined) return null;
  return isOlder(line.ts, line.occurredAt) ? line.ts : line.occurredAt;
}

/** Whether one time is known to be before the other; false for unknown and equal times. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return false;
  // UTC times compare as texts up to the second: that decides almost all cases, at a tenth of the cost.
  const isPlain = one.endsWith('Z') && other.endsWith('Z') && one.length >= PLAIN && other.length >= PLAIN;
  if (isPlain && !one.startsWith(other.slice(0, PLAIN - 1))) return one < other;
  return Date.parse(one) < Date.parse(other);
}

/** The later of two times; the second if that is not known. */
export function later(one: string | null, other: string | null): string | null {
  if (other === null) return one;
  return isOlder(other, one) ? one : other;
}

/** Replaces the entry that `isSame` finds, or appends the new one; the oldest are dropped above `most`. */
export function withEntry<Item>(
  entries: readonly Item[],
  isSame: (entry: Item) => boolean,
  entry: Item,
  most: number,
): Item[] {
  const index = entries.findIndex(isSame);
  if (index >= 0) return entries.with(index, entry);
  return entries.length < most ? [...entries, entry] : [...entries.slice(1 - most), entry];
}
