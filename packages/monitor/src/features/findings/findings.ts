// A finding: an improvement noticed during a run, one JSON line in the findings queue.

import { ownMessages, problemIn } from '@svc/contract/expected';
import { cutText, utf8Length } from '@svc/lib/cut-text';
import { z } from 'zod';
import { Severity } from '../attention/severity.ts';

/** A severity as people write it: `med` is `medium`. Undefined for anything else. */
export function severityFrom(text: string): Severity | undefined {
  const word = text.trim().toLowerCase();
  return Severity.safeParse(word === 'med' ? 'medium' : word).data;
}

export const Finding = z.looseObject({
  ts: z.iso.datetime(),
  skill: z.string(),
  title: z.string().min(1),
  body: z.string(),
  severity: Severity,
  tags: z.array(z.string()),
});

export type Finding = z.infer<typeof Finding>;

// A finding as one line of the queue. Lines are written by us and by hand: reading is lenient, and a line that cannot
// be a finding is reported.

/** With its line break. One `write` of this size succeeds or fails as a whole and never mixes with another. */
export const MAX_FINDING_LINE_BYTES = 64 * 1024;

const LONGEST_TITLE = 500;

const LONGEST_NAME = 200;

const MOST_TAGS = 20;

/** One line with its line break, at most 64 KiB: a body that is too long is cut and marked. */
export function findingLine(finding: Finding): string {
  const bounded = {
    ts: finding.ts,
    skill: cutText(finding.skill, LONGEST_NAME),
    title: cutText(finding.title, LONGEST_TITLE),
    body: finding.body,
    severity: finding.severity,
    tags: finding.tags.slice(0, MOST_TAGS).map((tag) => cutText(tag, LONGEST_NAME)),
  };
  const line = (body: string): string => `${JSON.stringify({ ...bounded, body })}\n`;
  const fits = (body: string): boolean => utf8Length(line(body)) <= MAX_FINDING_LINE_BYTES;
  if (fits(bounded.body)) return line(bounded.body);
  // Characters take different numbers of bytes in JSON, so the length that fits is found by search.
  let [kept, tooMany] = [0, Math.min(bounded.body.length, MAX_FINDING_LINE_BYTES)];
  while (tooMany - kept > 1) {
    const middle = Math.floor((kept + tooMany) / 2);
    if (fits(cutText(bounded.body, middle))) kept = middle;
    else tooMany = middle;
  }
  return line(cutText(bounded.body, kept));
}

export type ReadFinding = { finding: Finding } | { problem: string };

/** A line of the queue, without its line break. Skill, body, severity and tags may be missing. */
export function readFindingLine(text: string): ReadFinding {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { problem: error instanceof SyntaxError ? 'not JSON' : String(error) };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { problem: 'not an object' };
  const { severity } = json as { severity?: unknown };
  const given = {
    skill: '',
    body: '',
    tags: [],
    ...json,
    severity: typeof severity === 'string' ? (severityFrom(severity) ?? severity) : (severity ?? 'low'),
  };
  const read = Finding.safeParse(given, ownMessages);
  return read.success ? { finding: read.data } : { problem: problemIn(Finding, read.error) };
}

// The ticket for a finding, the same at every destination: title, text, labels, priority.

const LONGEST_TICKET_TITLE = 250;

const LONGEST_TEXT = 60_000;

const LONGEST_LABEL = 80;

export type TicketText = { title: string; text: string };

/** The last line of the text is the key, by which the ticket is found if the answer to its creation is lost. */
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

/** A ticket's text with the line by which it can be found. */
export function withKey(text: string, key: string): string {
  return `${cutText(text, LONGEST_TEXT)}\n\nsvc-key: ${key}`;
}

export function titleOf(title: string): string {
  return cutText(oneLine(title), LONGEST_TICKET_TITLE);
}

/** The base labels and the skill's name, each once, ignoring case. */
export function findingLabels(base: readonly string[], skill: string): string[] {
  const labels = new Map<string, string>();
  for (const name of [...base, skill].map((one) => oneLine(one).slice(0, LONGEST_LABEL))) {
    const same = name.toLowerCase();
    if (name !== '' && !labels.has(same)) labels.set(same, name);
  }
  return [...labels.values()];
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

// The journal of a drain, beside the queue, one JSON object per line: before each call, the line that is about to be
// filed, and after it the result. An attempt without a result may have created a ticket.

export const Destination = z.enum(['tracker', 'codehost']);

export type Destination = z.infer<typeof Destination>;

export const DrainRecord = z.discriminatedUnion('state', [
  z.object({ state: z.literal('trying'), key: z.string(), destination: Destination, at: z.iso.datetime() }),
  z.object({
    state: z.literal('filed'),
    key: z.string(),
    destination: Destination,
    filedAs: z.string(),
    url: z.string(),
  }),
  /** The attempt certainly created nothing. */
  z.object({ state: z.literal('refused'), key: z.string() }),
]);

export type DrainRecord = z.infer<typeof DrainRecord>;

type Ended = Extract<DrainRecord, { state: 'filed' }>;

type Tried = Extract<DrainRecord, { state: 'trying' }>;

/** The state of each key. A torn last line does not count: its call was not made. */
export function readDrainJournal(text: string): Map<string, Ended | Tried> {
  const states = new Map<string, Ended | Tried>();
  for (const line of text.split('\n')) {
    const record = recordIn(line);
    if (record === undefined || states.get(record.key)?.state === 'filed') continue;
    if (record.state === 'refused') states.delete(record.key);
    // Search from the first attempt on: its ticket is the oldest possible one.
    else if (record.state === 'filed' || !states.has(record.key)) states.set(record.key, record);
  }
  return states;
}

function recordIn(line: string): DrainRecord | undefined {
  try {
    return DrainRecord.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
