// The items of attention by what a person has done with them, the most urgent first.
import type { AttentionItem } from '@svc/core';

export const tabs = ['waiting', 'taken', 'snoozed'] as const;
export type Tab = (typeof tabs)[number];

const severities = ['high', 'medium', 'low'];

/** Asleep counts before taken: what was put off is not looked at until it wakes. */
export function tabOf(item: AttentionItem, now: number): Tab {
  if (isSnoozed(item, now)) return 'snoozed';
  return isWaiting(item, now) ? 'waiting' : 'taken';
}

export function inbox<T extends AttentionItem>(items: Iterable<T>, now: number): Record<Tab, T[]> {
  const found: Record<Tab, T[]> = { waiting: [], taken: [], snoozed: [] };
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

type Item = Pick<AttentionItem, 'acknowledged' | 'snoozedUntil' | 'handedOver'>;

/** Whether it still asks for a person: nobody has taken it, and it does not sleep. */
export function isWaiting(item: Item, now: number): boolean {
  return !isSnoozed(item, now) && !isTaken(item);
}

function isSnoozed({ snoozedUntil }: Pick<Item, 'snoozedUntil'>, now: number): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > now;
}

function isTaken({ acknowledged, handedOver }: Item): boolean {
  return acknowledged !== null || handedOver !== null;
}

/** The reasons for attention as text. One that is not here is shown as it is written. */
const reasonTexts: Record<string, string> = {
  'deploy-failed': 'A deploy failed',
  'deploy-budget-exhausted': 'No deploy attempts are left',
  'deploy-timeout': 'The deploy took too long',
  'done-unproven': 'Done is only claimed',
  'pr-closed': 'The pull request was closed',
  'worker-dead': 'The worker’s process is gone',
  'worker-stalled': 'The worker is stalled',
  'signal-corrupt': 'The signal file cannot be read',
  'verification-failed': 'The verification failed',
  'findings-waiting': 'Findings are not filed',
  'reaction-exhausted': 'The worker does not get further',
  'feed-blind': 'A feed is blind',
  'auth-failing': 'Deliveries fail their signature',
  'outbox-gave-up': 'Something could not be done',
  question: 'A worker asks',
};

/** `deploy-timeout` is `The deploy took too long`; `of-its-own` is `Of its own`. */
export function reasonWords(reason: string): string {
  const known = Object.hasOwn(reasonTexts, reason) ? reasonTexts[reason] : undefined;
  if (known !== undefined) return known;
  const plain = reason.replaceAll(/[-_]+/g, ' ').trim();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
