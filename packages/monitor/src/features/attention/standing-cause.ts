// Which reasons for attention have a cause that can be checked, and whether it exists now. The daemon and the dashboard
// use the same table: an item whose cause exists cannot be resolved by a person, only snoozed, acknowledged or handed over.

import type { AttentionItem } from './entity.ts';

export type CauseFacts = {
  /** What needs a person in the state of the item's worker; empty without a worker. */
  needs: readonly string[];
  /** State of the item's session. */
  session: string | undefined;
  /** Grade of the item's feed. */
  grade: string | undefined;
};

type Item = Pick<AttentionItem, 'reason' | 'session' | 'reportedBy'>;
type IsThere = (facts: CauseFacts, item: Item) => boolean;

/** svc raises these while the cause exists, and resolves them when it is gone. */
const whileOpen: IsThere = (_facts, { reportedBy }) => reportedBy === 'svc';

const others: Readonly<Record<string, IsThere>> = {
  'dispatch-failed': ({ needs }) => needs.includes('worker-failed') || needs.includes('worker-dead'),
  'feed-blind': ({ grade }) => grade === 'blind',
  'auth-failing': ({ grade }) => grade === 'degraded',
  'config-invalid': whileOpen,
  'budget-reached': whileOpen,
  'budget-unknown': whileOpen,
};

/** False as well if the cause cannot be checked: a rule that fired, a question of a helper, an action that was given up. */
export function hasStandingCause(item: Item, facts: CauseFacts): boolean {
  if (item.session !== null) return item.reason === `agent-${facts.session}`;
  const isThere = Object.hasOwn(others, item.reason) ? others[item.reason] : undefined;
  return isThere === undefined ? facts.needs.includes(item.reason) : isThere(facts, item);
}
