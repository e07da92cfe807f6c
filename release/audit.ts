// Known weaknesses in what ships, as the registry tells them. A registry that does not answer is said to be silent:
// "unknown" is never taken for "none".
import type { Licensed } from './licences.ts';

export type Audit =
  | { kind: 'clear'; lesser: string[] }
  | { kind: 'found'; serious: string[]; lesser: string[] }
  | { kind: 'unknown'; why: string };

type Answer = {
  message?: string;
  vulnerabilities?: Record<string, { name: string; severity: string; range?: string }>;
};

const SERIOUS = new Set(['high', 'critical']);

/** `printed`: what `npm audit --json` wrote. Of what it names, only what ships counts. */
export function readAudit(printed: string, shipped: readonly Licensed[]): Audit {
  let answer: Answer;
  try {
    answer = JSON.parse(printed) as Answer;
  } catch {
    return { kind: 'unknown', why: 'npm audit gave no JSON' };
  }
  if (answer.vulnerabilities === undefined)
    // The address of a registry is nobody's business.
    return {
      kind: 'unknown',
      why: (answer.message ?? 'no answer').replaceAll(/\S+:\/\/\S+/g, 'the registry'),
    };
  const names = new Set(shipped.map(({ name }) => name));
  const found = Object.values(answer.vulnerabilities).filter(({ name }) => names.has(name));
  const words = ({ name, severity, range }: (typeof found)[number]): string =>
    `${name} ${range ?? ''} (${severity})`.replace('  ', ' ');
  const serious = found.filter(({ severity }) => SERIOUS.has(severity)).map(words);
  const lesser = found.filter(({ severity }) => !SERIOUS.has(severity)).map(words);
  return serious.length > 0 ? { kind: 'found', serious, lesser } : { kind: 'clear', lesser };
}

/** The one line that the release prints. */
export function auditLine(audit: Audit): string {
  if (audit.kind === 'unknown') return `audit: unknown (${audit.why})`;
  const lesser = audit.lesser.length > 0 ? `; lesser: ${audit.lesser.join(', ')}` : '';
  return audit.kind === 'clear'
    ? `audit: nothing high or critical in what ships${lesser}`
    : `audit: ${audit.serious.join(', ')}${lesser}`;
}
