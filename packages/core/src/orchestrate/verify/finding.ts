// What a verification found. A blocking finding fails it; an advisory one is only told.

export const scanKinds = [
  'test-skipped',
  'test-emptied',
  'test-removed',
  'assertion-removed',
  'assertion-weakened',
  'stub',
  'not-scanned',
] as const;
export type ScanKind = (typeof scanKinds)[number];

export const findingKinds = [
  ...scanKinds,
  'tests-failed',
  'tests-timed-out',
  'setup-failed',
  'no-test-command',
  'test-type-missing',
  'test-type-unknown',
] as const;
export type FindingKind = (typeof findingKinds)[number];

export type VerifySeverity = 'blocking' | 'advisory';

export type VerifyFinding = {
  kind: FindingKind;
  severity: VerifySeverity;
  why: string;
  path?: string;
  line?: number;
  /** The line in question, cut. */
  text?: string;
};

export type ScanFinding = VerifyFinding & { kind: ScanKind; path: string; line: number; text: string };

const LONGEST_PATH = 300;
const LONGEST_TEXT = 200;

/** Text from a diff as it may be shown: one line, nothing that steers a terminal, not too long. */
export function shownText(text: string, longest: number = LONGEST_TEXT): string {
  const plain = text
    .slice(0, longest * 2)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')
    .trim();
  return plain.length > longest ? `${plain.slice(0, longest - 1).toWellFormed()}…` : plain;
}

export function shownPath(path: string): string {
  return shownText(path, LONGEST_PATH);
}

/** `test-skipped src/a.test.ts:12: a test was switched off: it.skip('adds', …)` */
export function findingText({ kind, path, line, text, why }: VerifyFinding): string {
  const place = path === undefined ? '' : ` ${path}${line === undefined || line === 0 ? '' : `:${line}`}`;
  return `${kind}${place}: ${why}${text === undefined || text === '' ? '' : `: ${text}`}`;
}
