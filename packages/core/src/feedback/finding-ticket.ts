// What a ticket says of a finding, at whichever destination: title, text, labels, priority.
import { cutText } from '../log/cut-text.ts';
import type { Finding, FindingSeverity } from './finding.ts';

const LONGEST_TITLE = 250;
const LONGEST_TEXT = 60_000;
const LONGEST_LABEL = 80;

export type TicketText = { title: string; text: string };

/** The last line of the text holds the key, by which the ticket is found should its answer be lost. */
export function findingTicket(finding: Finding, key: string): TicketText {
  const { skill, severity, tags, ts } = finding;
  const facts = [
    `Severity: ${severity}`,
    ...(skill === '' ? [] : [`Skill: ${oneLine(skill)}`]),
    ...(tags.length === 0 ? [] : [`Tags: ${tags.map(oneLine).join(', ')}`]),
    `Noted: ${ts}`,
  ];
  const parts = [finding.body.trim(), '---', facts.join('\n')].filter((part) => part !== '');
  return { title: titleOf(finding.title), text: withKey(parts.join('\n\n'), key) };
}

/** A ticket's text with the line by which it is found again. */
export function withKey(text: string, key: string): string {
  return `${cutText(text, LONGEST_TEXT)}\n\nsvc-key: ${key}`;
}

export function titleOf(title: string): string {
  return cutText(oneLine(title), LONGEST_TITLE);
}

/** The base labels and the skill's name, each once: labels that differ in case alone are one label. */
export function findingLabels(base: readonly string[], skill: string): string[] {
  const labels = new Map<string, string>();
  for (const name of [...base, skill].map((one) => oneLine(one).slice(0, LONGEST_LABEL))) {
    const same = name.toLowerCase();
    if (name !== '' && !labels.has(same)) labels.set(same, name);
  }
  return [...labels.values()];
}

/** The tracker's numbers: 2 is high, 4 is low. */
export const priorityOf: Readonly<Record<FindingSeverity, number>> = { high: 2, medium: 3, low: 4 };

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
