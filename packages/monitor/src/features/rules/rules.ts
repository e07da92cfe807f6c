// The state of rules in the log: since which line each is on, how often and when it last fired, and up to which line
// rules were evaluated. A fold of the lines `workflow.rule.*` only.

import { canonicalJson } from '@svc/lib/canonical-json';
import { nearest } from '@svc/lib/nearest';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import { durationMs, type EventFilter, impossibleTopicIn } from '../../kernel/log/event-filter.ts';
import type { EventDraft, EventLine } from '../../kernel/log/event-line.ts';
import { topics } from '../topics.ts';
import type { Rule, RuleThen } from './config.ts';
import { RuleFiredDetail, RuleScannedDetail, RuleSwitchedDetail } from './topics.ts';

export type RuleRecord = {
  /** The rule as it was enabled; null while it is off. */
  definition: string | null;
  /** The line that enabled it: it fires on lines after this one. */
  since: number;
  fired: number;
  last: { line: number; at: string; ticket: string | null } | null;
};

export type RuleBook = {
  records: Map<string, RuleRecord>;
  firings: Firings;
  /** Lines up to this one need no further evaluation; the newest that fired does, for rules that have not fired yet. */
  scannedTo: number;
};

export const ruleBookTopics = ['switched_on', 'switched_off', 'scanned', 'fired'].map(
  (name) => `workflow.rule.${name}`,
);

export function emptyRuleBook(): RuleBook {
  return { records: new Map(), firings: new Map(), scannedTo: 0 };
}

/** Adds one line; a line that is not about rules, or is malformed, changes nothing. */
export function foldRuleFact(book: RuleBook, line: EventLine): void {
  if (line.source !== 'monitor') return;
  if (line.event === 'workflow.rule.scanned') {
    const scanned = RuleScannedDetail.safeParse(line.detail);
    if (scanned.success) book.scannedTo = Math.max(book.scannedTo, scanned.data.line);
  } else if (line.event === 'workflow.rule.fired') {
    foldFired(book, line);
  } else if (line.event === 'workflow.rule.switched_on' || line.event === 'workflow.rule.switched_off') {
    const switched = RuleSwitchedDetail.safeParse(line.detail);
    if (!switched.success) return;
    const { rule, definition = null } = switched.data;
    const isOn = line.event === 'workflow.rule.switched_on';
    book.records.set(rule, {
      ...recordOf(book, rule),
      definition: isOn ? definition : null,
      since: line.seq,
    });
  }
}

function foldFired(book: RuleBook, { detail, scope }: EventLine): void {
  const fired = RuleFiredDetail.safeParse(detail);
  if (!fired.success) return;
  const { rule, line, at } = fired.data;
  const record = recordOf(book, rule);
  const last = { line, at, ticket: scope.ticket ?? null };
  book.records.set(rule, { ...record, fired: record.fired + 1, last });
  noteFiring(book.firings, rule, scope.ticket, { line, at: Date.parse(at) });
  book.scannedTo = Math.max(book.scannedTo, line - 1);
}

export function recordOf(book: RuleBook, rule: string): RuleRecord {
  return book.records.get(rule) ?? { definition: null, since: 0, fired: 0, last: null };
}

/** Identifies a rule's definition: a changed rule counts as newly enabled and ignores earlier lines. */
export function definitionOf({ when, then, limit }: Rule): string {
  return canonicalJson({ when, then, limit });
}

export type Switching = { rule: string; definition: string | null };

/** The lines to append so that the log has the currently enabled rules. */
export function switchings(book: RuleBook, enabled: readonly Rule[]): Switching[] {
  const on = new Map(enabled.map((rule) => [rule.name, definitionOf(rule)]));
  const gone = [...book.records].filter(([name, { definition }]) => definition !== null && !on.has(name));
  const fresh = [...on].filter(([name, definition]) => recordOf(book, name).definition !== definition);
  return [
    ...gone.map(([rule]) => ({ rule, definition: null })),
    ...fresh.map(([rule, definition]) => ({ rule, definition })),
  ];
}

/** The last line that no rule has to evaluate again. */
export function startAfter(book: RuleBook, enabled: readonly Rule[]): number {
  const sinces = enabled.map(({ name }) => recordOf(book, name).since);
  return Math.max(book.scannedTo, Math.min(...sinces));
}

// What can be wrong with rules beyond their shape: a rule that can never fire, or cannot do what it asks for. Only jq
// can check a jq filter, so that is done where jq runs.

export type RuleProblem = { message: string; remedy: string };

const SEE_TOPICS = 'See the topics: svc events topics';

/** `commands`: the names that `svc.commands` has. */
export function problemsOfRules(rules: readonly Rule[], commands: ReadonlySet<string>): RuleProblem[] {
  const twice = rules.filter(({ name }, index) => rules.findIndex((other) => other.name === name) < index);
  return [
    ...twice.map(({ name }) => ({
      message: `has two rules with the name ${name}.`,
      remedy: 'Give one of them another name.',
    })),
    ...rules.flatMap((rule) => problemsOfRule(rule, commands)),
  ];
}

export function problemsOfRule(rule: Rule, commands: ReadonlySet<string>): RuleProblem[] {
  const { name, when, then } = rule;
  const problems: RuleProblem[] = [];
  const wrong = (message: string, remedy: string): void => {
    problems.push({ message: `rule ${name}: ${message}`, remedy });
  };
  const matching = topics.matching(when.event);
  if (matching.length === 0) {
    const suggestion = topics.suggest(when.event);
    wrong(
      `no event has the topic ${when.event}.`,
      suggestion === undefined ? SEE_TOPICS : `Did you mean ${suggestion}?`,
    );
  } else if (matching.every(isRuleTopic)) {
    wrong(`rules do not fire on ${when.event}, which rules themselves cause.`, 'Choose another event.');
  }
  const impossible = when.filter === undefined ? undefined : impossibleTopicIn(topics, when.filter);
  if (impossible !== undefined)
    wrong(`its filter compares with the topic ${impossible}, which does not exist.`, SEE_TOPICS);
  if (then.run !== undefined && !commands.has(then.run)) {
    const suggestion = nearest(then.run, commands);
    wrong(
      `svc.commands has no command ${then.run}.`,
      suggestion === undefined
        ? `Add it: svc config set svc.commands.${then.run}.argv '["<program>"]'`
        : `Did you mean ${suggestion}?`,
    );
  }
  for (const text of [then.notify?.message, then.attention?.message]) {
    const unknown = text === undefined ? undefined : unknownPlaceholder(text);
    if (unknown !== undefined)
      wrong(`unknown placeholder {${unknown}} in a message.`, `Use one of {${placeholders.join('}, {')}}.`);
  }
  return problems;
}

// A rule that fires on a line: which lines it may fire on, and the line that it causes. That line contains everything
// the rule asks for, so reducers need no configuration.

/** The value of `{name}` in a message; a dash if the line does not have it. */
export const placeholders = [
  'event',
  'rule',
  'ticket',
  'repo',
  'pr',
  'branch',
  'environment',
  'orchestrator',
  'worker',
] as const;

const placeholder = /\{([A-Za-z]+)\}/g;
const LONGEST_VALUE = 200;

function isRuleTopic(topic: string): boolean {
  return topic.startsWith('workflow.rule.');
}

/** Whether rules caused the line. No rule fires on it, because rules that trigger each other would never stop. */
export function isMadeByRules({
  event,
  source,
  detail,
}: Pick<EventLine, 'event' | 'source' | 'detail'>): boolean {
  return isRuleTopic(event) || (source === 'monitor' && typeof detail['rule'] === 'string');
}

/** The simple conditions of a rule; its jq filter is evaluated after them. */
export function plainConditions({ when }: Pick<Rule, 'when'>): EventFilter {
  return {
    topics: new Set(topics.matching(when.event)),
    ticket: when.ticket?.toUpperCase(),
    repo: when.repo,
  };
}

function unknownPlaceholder(text: string): string | undefined {
  const known: readonly string[] = placeholders;
  return [...text.matchAll(placeholder)].map(([, name = '']) => name).find((name) => !known.includes(name));
}

/** What the rule asks for on this line, with its messages filled in. */
export function askedFor({ name, then }: Pick<Rule, 'name' | 'then'>, line: EventLine): RuleThen {
  const fill = (text: string): string =>
    text.replaceAll(placeholder, (_, key: string) => valueOf(key, name, line).slice(0, LONGEST_VALUE));
  const { notify, attention, run } = then;
  return {
    ...(notify && { notify: { ...notify, message: fill(notify.message) } }),
    ...(attention && { attention: { ...attention, message: fill(attention.message) } }),
    ...(run !== undefined && { run }),
  };
}

function valueOf(key: string, rule: string, { event, scope }: EventLine): string {
  if (key === 'event') return event;
  if (key === 'rule') return rule;
  const value = (scope as Record<string, string | number | undefined>)[key];
  return value === undefined ? '-' : String(value);
}

/** Appended once for each rule and line, because its id is made from the line's id. */
export function firingOf(rule: Pick<Rule, 'name' | 'then'>, line: EventLine): EventDraft {
  const { seq, id, ts, event, scope } = line;
  return {
    event: 'workflow.rule.fired',
    source: 'monitor',
    via: 'local',
    deliveryId: `rule:${rule.name}:${id}`,
    scope,
    detail: { rule: rule.name, line: seq, lineId: id, at: ts, topic: event, ...askedFor(rule, line) },
  };
}

// How often a rule may fire: `atMost` times in a period, separately for each ticket; lines without a ticket count
// together. Only the lines' own times count, so the same log always gives the same result.

/** By rule and ticket: the lines that it fired on, oldest first; changed in place. */
export type Firings = Map<string, FiredOn[]>;

export type FiredOn = { line: number; at: number };

/** The highest limit that can be configured: older firings have no effect. */
const MOST_KEPT = 1000;

const keyOf = (rule: string, ticket: string | undefined): string => `${rule}/${ticket ?? ''}`;

/** `already`: it has fired on this line. */
export function mayFire(
  firings: Firings,
  { name, limit }: Pick<Rule, 'name' | 'limit'>,
  { seq, ts, scope }: Pick<EventLine, 'seq' | 'ts' | 'scope'>,
): 'fires' | 'limited' | 'already' {
  const before = firings.get(keyOf(name, scope.ticket)) ?? [];
  const now = Date.parse(ts);
  const since = now - (durationMs(limit.per) ?? 0);
  let counted = 0;
  // From the newest back, and only as far as the limit needs: a rule may have fired a thousand times.
  for (let index = before.length - 1; index >= 0 && counted < limit.atMost; index -= 1) {
    const fired = before[index];
    if (fired === undefined || fired.at <= since) break;
    if (fired.line === seq) return 'already';
    // A clock that was set back must not silence a rule.
    if (fired.line < seq && fired.at <= now) counted += 1;
  }
  return counted < limit.atMost ? 'fires' : 'limited';
}

export function noteFiring(firings: Firings, rule: string, ticket: string | undefined, fired: FiredOn): void {
  const key = keyOf(rule, ticket);
  const before = firings.get(key);
  if (before === undefined) firings.set(key, [fired]);
  else if ((before.at(-1)?.line ?? 0) < fired.line) before.push(fired);
  if (before !== undefined && before.length >= 2 * MOST_KEPT) before.splice(0, MOST_KEPT);
}

// A rule as text, for the list of rules and for a back-test.

/** `attention (high): ABC-1 waits`, `run post-note` */
export function whatItDoes({ notify, attention, run }: RuleThen): string[] {
  return [
    ...(notify ? [`notify (${notify.severity}): ${notify.message}`] : []),
    ...(attention ? [`attention (${attention.severity}): ${attention.message}`] : []),
    ...(run === undefined ? [] : [`run ${run}`]),
  ];
}

/** `codehost.pr.merged of acme/web, where .scope.pr > 7` */
export function whenItFires({ event, ticket, repo, filter }: Rule['when']): string {
  const of = [ticket, repo].filter((part) => part !== undefined);
  const where = filter === undefined ? '' : `, where ${filter}`;
  return `${event}${of.length === 0 ? '' : ` of ${of.join(' in ')}`}${where}`;
}

/** `at most 1 in 10m for each ticket` */
export function limitWords({ atMost, per }: Rule['limit']): string {
  return `at most ${atMost} in ${per} for each ticket`;
}

// The environment of a rule's command: the standard variables and the event's fields. No webhook secret and no tracker
// token. Nothing from an event is ever an argument.

const ordinary = ['PATH', 'HOME', 'LANG', 'USER', 'SHELL', 'TMPDIR'] as const;
const LONGEST_VARIABLE = 4096;

/** `SVC_RULE`, `SVC_EVENT_TOPIC`, `SVC_EVENT_SEQ`, and `SVC_EVENT_TICKET`, `SVC_EVENT_MERGE_SHA`, … for each field known. */
export function commandEnvironment(
  inherited: Environment,
  rule: string,
  { event, seq, ts, id, scope }: Pick<EventLine, 'event' | 'seq' | 'ts' | 'id' | 'scope'>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ordinary) {
    const value = inherited[name];
    if (value !== undefined) environment[name] = value;
  }
  const facts = { topic: event, seq, ts, id, ...scope };
  environment['SVC_RULE'] = rule;
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) environment[variableOf(name)] = plain(String(value));
  return environment;
}

/** `mergeSha` is `SVC_EVENT_MERGE_SHA`. */
function variableOf(name: string): string {
  return `SVC_EVENT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** A variable cannot hold the character 0, and a program cannot be started with one that is too long. */
function plain(value: string): string {
  return value.replaceAll('\0', '').slice(0, LONGEST_VARIABLE);
}
