// A finding: an improvement noticed during a run, one JSON line in the findings queue.
import { z } from 'zod';
import { repoKey } from '../codehost/repo-name.ts';
import type { Config } from '../config/schema/config.ts';
import { cutText, utf8Length } from '../log/cut-text.ts';
import type { Effect } from '../state/effect.ts';
import { trackerOf } from '../tracker/tracker-of.ts';

export const FindingSeverity = z.enum(['low', 'medium', 'high']);

/** A severity as people write it: `med` is `medium`. Undefined for anything else. */
export function severityFrom(text: string): FindingSeverity | undefined {
  const word = text.trim().toLowerCase();
  return FindingSeverity.safeParse(word === 'med' ? 'medium' : word).data;
}

export const Finding = z.looseObject({
  ts: z.iso.datetime(),
  skill: z.string(),
  title: z.string().min(1),
  body: z.string(),
  severity: FindingSeverity,
  tags: z.array(z.string()),
});

export type FindingSeverity = z.infer<typeof FindingSeverity>;
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
  const read = Finding.safeParse({
    skill: '',
    body: '',
    tags: [],
    ...json,
    severity: typeof severity === 'string' ? (severityFrom(severity) ?? severity) : (severity ?? 'low'),
  });
  if (read.success) return { finding: read.data };
  const [issue] = read.error.issues;
  return { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong shape'}` };
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

/** The tracker's numbers: 2 is high, 4 is low. */
export const priorityOf: Readonly<Record<FindingSeverity, number>> = { high: 2, medium: 3, low: 4 };

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

// The fields that we use of an issue at the code host.

export const CodehostIssue = z.object({
  number: z.int().positive(),
  html_url: z.string().max(2_000),
  body: z.string().nullish(),
});
export type CodehostIssue = z.infer<typeof CodehostIssue>;

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

// Consent to file findings without asking. The project file can request it (`autoFile`), but someone else may have
// committed that file: it counts only for destinations that the user agreed to, which are in the user's own file.

/** Where the project's findings can be filed, in the format of `svc.feedback.consentFor`. */
export function filingDestinations(config: Config): string[] {
  const chosen = trackerOf(config);
  // A prefix does not name a repository: consent for one must not count for another.
  const place = chosen.provider === 'github' ? repoKey(chosen.teamId) : chosen.provider && chosen.teamKey;
  const tracker = place === undefined ? [] : [`tracker:${place}`];
  return [...tracker, `codehost:${repoKey(config.svc.feedback.codehostRepo)}`];
}

export type FilingConsent =
  | { granted: true }
  /** `unconfirmed`: the project file consents, but the user has not agreed to these destinations. */
  | { granted: false; unconfirmed: string[] };

export function filingConsent(config: Config): FilingConsent {
  const { autoFile, consentFor } = config.svc.feedback;
  if (!autoFile) return { granted: false, unconfirmed: [] };
  const unconfirmed = filingDestinations(config).filter((destination) => !consentFor.includes(destination));
  return unconfirmed.length === 0 ? { granted: true } : { granted: false, unconfirmed };
}

// The ticket for a merged commit that failed its verification: what someone has to fix, and why.

export type RemediationEffect = Extract<Effect, { kind: 'file-remediation' }>;

/** Used in place of a skill name, so that all tickets from verification have the same label. */
export const REMEDIATION_SKILL = 'verification';

const MOST_FINDINGS = 100;

export function remediationTicket(effect: RemediationEffect, key: string): TicketText {
  const { ticket, orchestrator, sha, summary, findings } = effect;
  const more = findings.length - MOST_FINDINGS;
  const parts = [
    summary?.trim() || `The verification of ${ticket} failed after its merge.`,
    findings
      .slice(0, MOST_FINDINGS)
      .map((finding) => `- ${finding.trim().replaceAll('\n', '\n  ')}`)
      .join('\n'),
    more > 0 ? `and ${more} more` : '',
    '---',
    [
      `Ticket: ${ticket}`,
      `Commit: ${sha ?? 'unknown'}`,
      `Run: ${orchestrator}`,
      `Requested by: ${effect.key}`,
    ].join('\n'),
  ];
  return {
    title: titleOf(`Verification of ${ticket} failed`),
    text: withKey(parts.filter((part) => part !== '').join('\n\n'), key),
  };
}

/** The same for the findings queue, where no tracker is set up. */
export function remediationFinding(effect: RemediationEffect, key: string, ts: string): Finding {
  const { title, text } = remediationTicket(effect, key);
  return { ts, skill: REMEDIATION_SKILL, title, body: text, severity: 'high', tags: [effect.ticket] };
}
