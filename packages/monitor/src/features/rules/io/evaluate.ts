// Which rules fire on which events: the only evaluator, for the daemon and the back-test. It knows the events, the rules
// and what fired before; jq runs in a thread.
import { Failure } from '../../../kernel/failure.ts';
import { type EventFilter, matchesFilter } from '../../../kernel/log/event-filter.ts';
import type { JqThreads } from '../../../kernel/log/jq-threads.ts';
import type { LogEntry } from '../../../kernel/log/log-entry.ts';
import type { Rule } from '../config.ts';
import { type Firings, isMadeByRules, mayFire, noteFiring, plainConditions } from '../rules.ts';

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

// Runs jq on events for a rule. A batch that takes too long is repeated event by event, so one hard event does not cost
// the others their result; an event that alone takes too long, repeatedly, is the filter's fault.

export type Matches = JqThreads['matches'];

const BATCH = 256;
const TRIES = 3;

/** Whether each line matches; `problem` for one on which the filter takes too long. */
async function askJq(
  matches: Matches,
  filter: string,
  lines: readonly string[],
): Promise<(boolean | { problem: string })[]> {
  const answers: (boolean | { problem: string })[] = [];
  for (let from = 0; from < lines.length; from += BATCH)
    answers.push(...(await askBatch(matches, filter, lines.slice(from, from + BATCH))));
  return answers;
}

async function askBatch(matches: Matches, filter: string, lines: readonly string[]) {
  const together = await unlessSlow(() => matches(filter, lines));
  if (together !== undefined) return together;
  const answers: (boolean | { problem: string })[] = [];
  for (const line of lines) answers.push(await askLine(matches, filter, line));
  return answers;
}

async function askLine(
  matches: Matches,
  filter: string,
  line: string,
): Promise<boolean | { problem: string }> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const [answer] = (await unlessSlow(() => matches(filter, [line]))) ?? [];
    if (answer !== undefined) return answer;
  }
  return { problem: 'its jq filter takes too long on one event' };
}

const costly = new Set<Failure['code']>(['filter-too-slow', 'filter-too-large']);

async function unlessSlow<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure && costly.has(error.code)) return undefined;
    throw error;
  }
}
