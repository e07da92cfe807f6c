// What the log tells of rules: since which line each is on, how often it fired and when last, and how far lines were
// looked at. A fold of the lines `workflow.rule.*`, and of nothing else.
import type { Rule } from '../config/schema/rules.ts';
import type { EventLine } from '../log/event-line.ts';
import { RuleFiredDetail, RuleScannedDetail, RuleSwitchedDetail } from '../log/own-details.ts';
import { canonicalJson } from '../runs/canonical-json.ts';
import { type Firings, noteFiring } from './limit.ts';

export type RuleRecord = {
  /** The rule as it was switched on; null while it is off. */
  definition: string | null;
  /** The line that switched it: it fires on lines after this one. */
  since: number;
  fired: number;
  last: { line: number; at: string; ticket: string | null } | null;
};

export type RuleBook = {
  records: Map<string, RuleRecord>;
  firings: Firings;
  /** Lines up to this one need not be looked at again; the newest that fired is, for those rules that did not yet. */
  scannedTo: number;
};

export const ruleBookTopics = ['switched_on', 'switched_off', 'scanned', 'fired'].map(
  (name) => `workflow.rule.${name}`,
);

export function emptyRuleBook(): RuleBook {
  return { records: new Map(), firings: new Map(), scannedTo: 0 };
}

/** One more line; one that is not of rules, or not as it should be, changes nothing. */
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

/** What makes a rule another one: it then counts as newly switched on, and looks at no line of before. */
export function definitionOf({ when, then, limit }: Rule): string {
  return canonicalJson({ when, then, limit });
}

export type Switching = { rule: string; definition: string | null };

/** What is to be written so that the log knows the rules that are on now. */
export function switchings(book: RuleBook, enabled: readonly Rule[]): Switching[] {
  const on = new Map(enabled.map((rule) => [rule.name, definitionOf(rule)]));
  const gone = [...book.records].filter(([name, { definition }]) => definition !== null && !on.has(name));
  const fresh = [...on].filter(([name, definition]) => recordOf(book, name).definition !== definition);
  return [
    ...gone.map(([rule]) => ({ rule, definition: null })),
    ...fresh.map(([rule, definition]) => ({ rule, definition })),
  ];
}

/** The last line that none of the rules has to look at again. */
export function startAfter(book: RuleBook, enabled: readonly Rule[]): number {
  const sinces = enabled.map(({ name }) => recordOf(book, name).since);
  return Math.max(book.scannedTo, Math.min(...sinces));
}
