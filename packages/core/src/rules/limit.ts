// How often a rule fires at most: so many times in so long, for each ticket apart; lines without a ticket count
// together. Only the lines' own times count, so that the same log gives the same answer whenever it is asked.
import type { Rule } from '../config/schema/rules.ts';
import type { EventLine } from '../log/event-line.ts';
import { durationMs } from '../log/since.ts';

/** By rule and ticket: the lines that it fired on, oldest first; grown in place. */
export type Firings = Map<string, FiredOn[]>;

export type FiredOn = { line: number; at: number };

/** As many as any limit allows: older ones can hold back nothing. */
const MOST_KEPT = 1000;

const keyOf = (rule: string, ticket: string | undefined): string => `${rule}/${ticket ?? ''}`;

/** `already`: it has fired on this very line. */
export function mayFire(
  firings: Firings,
  { name, limit }: Pick<Rule, 'name' | 'limit'>,
  { seq, ts, scope }: Pick<EventLine, 'seq' | 'ts' | 'scope'>,
): 'fires' | 'held' | 'already' {
  const before = firings.get(keyOf(name, scope.ticket)) ?? [];
  const now = Date.parse(ts);
  const since = now - (durationMs(limit.per) ?? 0);
  let counted = 0;
  // From the newest back, and only as far as the limit looks: a rule may have fired a thousand times.
  for (let index = before.length - 1; index >= 0 && counted < limit.atMost; index -= 1) {
    const fired = before[index];
    if (fired === undefined || fired.at <= since) break;
    if (fired.line === seq) return 'already';
    // A clock that was set back must not silence a rule for as long.
    if (fired.line < seq && fired.at <= now) counted += 1;
  }
  return counted < limit.atMost ? 'fires' : 'held';
}

export function noteFiring(firings: Firings, rule: string, ticket: string | undefined, fired: FiredOn): void {
  const key = keyOf(rule, ticket);
  const before = firings.get(key);
  if (before === undefined) firings.set(key, [fired]);
  else if ((before.at(-1)?.line ?? 0) < fired.line) before.push(fired);
  if (before !== undefined && before.length >= 2 * MOST_KEPT) before.splice(0, MOST_KEPT);
}
