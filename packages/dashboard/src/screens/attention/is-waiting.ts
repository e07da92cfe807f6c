import type { AttentionItem } from '@svc/core';

type Item = Pick<AttentionItem, 'acknowledged' | 'snoozedUntil' | 'handedOver'>;

/** Whether it still asks for a person: nobody has taken it, and it does not sleep. */
export function isWaiting(item: Item, now: number): boolean {
  return !isSnoozed(item, now) && !isTaken(item);
}

export function isSnoozed({ snoozedUntil }: Pick<Item, 'snoozedUntil'>, now: number): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > now;
}

function isTaken({ acknowledged, handedOver }: Item): boolean {
  return acknowledged !== null || handedOver !== null;
}
