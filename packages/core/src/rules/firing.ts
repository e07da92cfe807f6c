// A rule that fires on a line: which lines it may fire on, and the fact that it makes. The fact carries all that is
// asked for, so that whoever folds it needs no configuration.
import type { Rule, RuleThen } from '../config/schema/rules.ts';
import type { EventFilter } from '../log/event-filter.ts';
import type { EventDraft, EventLine } from '../log/event-line.ts';
import { topicsMatching } from '../log/topics.ts';

/** What `{name}` stands for in a message; what the line does not have is a dash. */
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

export function isRuleTopic(topic: string): boolean {
  return topic.startsWith('workflow.rule.');
}

/** Whether rules caused the line. No rule fires on it: rules that fire each other would never end. */
export function isMadeByRules({
  event,
  source,
  detail,
}: Pick<EventLine, 'event' | 'source' | 'detail'>): boolean {
  return isRuleTopic(event) || (source === 'monitor' && typeof detail['rule'] === 'string');
}

/** The plain conditions of a rule; its jq filter comes after them. */
export function plainConditions({ when }: Pick<Rule, 'when'>): EventFilter {
  return {
    topics: new Set(topicsMatching(when.event)),
    ticket: when.ticket?.toUpperCase(),
    repo: when.repo,
  };
}

export function unknownPlaceholder(text: string): string | undefined {
  const known: readonly string[] = placeholders;
  return [...text.matchAll(placeholder)].map(([, name = '']) => name).find((name) => !known.includes(name));
}

/** What the rule asks for on this line, its messages with the line's own words. */
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

/** Appended once for each rule and line, by the line's own id. */
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
