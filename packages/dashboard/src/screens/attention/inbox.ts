// The items of attention by what a person has done with them, the most urgent first.
import type { AttentionItem } from '@svc/core';
import { isSnoozed, isWaiting } from './is-waiting.ts';

export const tabs = ['waiting', 'taken', 'snoozed'] as const;
export type Tab = (typeof tabs)[number];

const severities = ['high', 'medium', 'low'];

/** Asleep counts before taken: what was put off is not looked at until it wakes. */
export function tabOf(item: AttentionItem, now: number): Tab {
  if (isSnoozed(item, now)) return 'snoozed';
  return isWaiting(item, now) ? 'waiting' : 'taken';
}

export function inbox<Item extends AttentionItem>(items: Iterable<Item>, now: number): Record<Tab, Item[]> {
  const found: Record<Tab, Item[]> = { waiting: [], taken: [], snoozed: [] };
  for (const item of [...items].toSorted(byUrgency)) found[tabOf(item, now)].push(item);
  return found;
}

/** By severity, then the longest open. What wakes first is first among the sleeping by the same order. */
function byUrgency(one: AttentionItem, other: AttentionItem): number {
  return rank(one) - rank(other) || one.openedSeq - other.openedSeq || (one.id < other.id ? -1 : 1);
}

function rank({ severity }: AttentionItem): number {
  const index = severities.indexOf(severity);
  return index < 0 ? severities.length : index;
}

/** Where `j` and `k` lead; the list does not go round, so that its end is felt. */
export function moved(ids: readonly string[], from: string | undefined, by: 1 | -1): string | undefined {
  const index = from === undefined ? -1 : ids.indexOf(from);
  if (index < 0) return ids[0];
  return ids[Math.min(ids.length - 1, Math.max(0, index + by))];
}

/** What is selected when an item has left the list: the one that came after it, else the one before. */
export function neighbour(ids: readonly string[], id: string): string | undefined {
  const index = ids.indexOf(id);
  return ids[index + 1] ?? ids[index - 1];
}
