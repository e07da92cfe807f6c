// A finding as one line of the queue. Lines are written by us, and by hand: what a line says is read with
// patience, what it cannot be is told.
import { cutText, utf8Length } from '../log/cut-text.ts';
import { Finding, severityFrom } from './finding.ts';

/** With its line break. One `write` of this size is whole or fails; it never mixes with another. */
export const MAX_FINDING_LINE_BYTES = 64 * 1024;

const LONGEST_TITLE = 500;
const LONGEST_NAME = 200;
const MOST_TAGS = 20;

/** One line with its line break, at most 64 KiB: the body is cut, and marked, as far as needed. */
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
  // What a character takes in JSON depends on it, so that the length which fits has to be looked for.
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
