// Which rules fire on which events: the only evaluator, for the daemon and the back-test. It knows the events, the rules
// and what fired before; jq runs in a thread.
import {
  type EventFilter,
  type Firings,
  isMadeByRules,
  matchesFilter,
  mayFire,
  noteFiring,
  plainConditions,
  type Rule,
} from '@svc/core';
import type { LogEntry } from '../log/log-entry.ts';
import { askJq, type Matches } from './ask-jq.ts';

/** A rule in use; it checks events after `since`. */
export type ActiveRule = { rule: Rule; conditions: EventFilter; since: number };

export type Verdict = { rule: Rule; entry: LogEntry } & (
  | { verdict: 'fires' | 'limited' }
  | { verdict: 'failed'; problem: string }
);

export function activeRule(rule: Rule, since: number): ActiveRule {
  return { rule, conditions: plainConditions(rule), since };
}

/**
 * The verdicts on some events, in the order of the events and of the rules. Firings are recorded in `firings` at the end,
 * after jq has answered: a call that rejects has changed nothing.
 */
export async function evaluate({
  rules,
  firings,
  entries,
  matches,
}: {
  rules: readonly ActiveRule[];
  firings: Firings;
  entries: readonly LogEntry[];
  matches: Matches;
}): Promise<Verdict[]> {
  const wanted: Map<LogEntry, true | { problem: string }>[] = [];
  for (const rule of rules) wanted.push(await wantedBy(rule, entries, matches));
  const verdicts: Verdict[] = [];
  for (const entry of entries)
    for (const [index, { rule }] of rules.entries()) {
      const answer = wanted[index]?.get(entry);
      if (answer === undefined) continue;
      if (answer !== true) {
        verdicts.push({ rule, entry, verdict: 'failed', ...answer });
        continue;
      }
      const { line } = entry;
      const verdict = mayFire(firings, rule, line);
      if (verdict === 'already') continue;
      if (verdict === 'fires')
        noteFiring(firings, rule.name, line.scope.ticket, { line: line.seq, at: Date.parse(line.ts) });
      verdicts.push({ rule, entry, verdict });
    }
  return verdicts;
}

async function wantedBy(
  { rule, conditions, since }: ActiveRule,
  entries: readonly LogEntry[],
  matches: Matches,
): Promise<Map<LogEntry, true | { problem: string }>> {
  const plain = entries.filter(
    ({ line }) =>
      line.seq > since &&
      line.repeatOf === undefined &&
      matchesFilter(line, conditions) &&
      !isMadeByRules(line),
  );
  const { filter } = rule.when;
  if (filter === undefined || plain.length === 0) return new Map(plain.map((entry) => [entry, true]));
  const answers = await askJq(
    matches,
    filter,
    plain.map(({ text }) => text),
  );
  const wanted = new Map<LogEntry, true | { problem: string }>();
  for (const [index, entry] of plain.entries()) {
    const answer = answers[index];
    if (answer !== undefined && answer !== false) wanted.set(entry, answer);
  }
  return wanted;
}
