// The findings of a verification and its verdict: whether the change counts as done. A blocking finding fails it; an
// advisory one is only shown.
import type { DiffScope } from './file-kind.ts';
import type { VerifierResult } from './refutation.ts';
import type { TestTypePresence } from './test-types.ts';

export const findingKinds = [
  'tests-failed',
  'tests-timed-out',
  'setup-failed',
  'no-test-command',
  'test-type-missing',
  'test-type-unknown',
  'test-skipped',
  'test-removed',
  'assertion-removed',
  'not-scanned',
  'ticket-not-done',
  'verifier-unclear',
  'verifier-unknown',
] as const;

export type VerifyFinding = {
  kind: (typeof findingKinds)[number];
  severity: 'blocking' | 'advisory';
  why: string;
  path?: string;
  line?: number;
  /** The line in question, cut. */
  text?: string;
};

const LONGEST_PATH = 300;
const LONGEST_TEXT = 200;
const LONGEST_REASON = 400;

/** Text from a diff, safe to display: one line without control characters, not too long. */
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

/** `test-skipped src/a.test.ts:12: a test is skipped: it.skip('adds', …)` */
export function findingText({ kind, path, line, text, why }: VerifyFinding): string {
  const place = path === undefined ? '' : ` ${path}${line === undefined || line === 0 ? '' : `:${line}`}`;
  return `${kind}${place}: ${why}${text === undefined || text === '' ? '' : `: ${text}`}`;
}

export type TestRun =
  | { state: 'passed'; command: string; ms: number }
  | { state: 'failed'; command: string; ms: number; how: string }
  | { state: 'timed-out'; command: string; ms: number }
  | { state: 'setup-failed'; step: string; how: string }
  | { state: 'no-command' };

export type Verdict = {
  passed: boolean;
  /** One or a few sentences for a person. */
  summary: string;
  /** Blocking ones first. */
  findings: VerifyFinding[];
  blocking: number;
};

const LONGEST_SUMMARY = 600;
const NAMED_FINDINGS = 3;

export function verdict({
  scope,
  tests,
  types,
  advice,
  verifier,
}: {
  scope: DiffScope;
  tests: TestRun;
  types: readonly TestTypePresence[];
  /** Signs of weakened tests. */
  advice: readonly VerifyFinding[];
  /** From the second agent, if one is configured. */
  verifier?: VerifierResult | undefined;
}): Verdict {
  const all = [
    ...testFindings(tests, scope),
    ...typeFindings(types, scope),
    ...(verifier === undefined ? [] : verifierFindings(verifier)),
    ...advice,
  ];
  const blocking = all.filter(({ severity }) => severity === 'blocking');
  const findings = [...blocking, ...all.filter(({ severity }) => severity !== 'blocking')];
  const passed = blocking.length === 0;
  return {
    passed,
    summary: summaryOf([testWords(tests), ...verifierWords(verifier)], findings, blocking.length),
    findings,
    blocking: blocking.length,
  };
}

function testFindings(tests: TestRun, scope: DiffScope): VerifyFinding[] {
  switch (tests.state) {
    case 'passed':
      return [];
    case 'failed':
      return [{ kind: 'tests-failed', severity: 'blocking', why: `${tests.command} ${tests.how}` }];
    case 'timed-out':
      return [{ kind: 'tests-timed-out', severity: 'blocking', why: `${tests.command} timed out` }];
    case 'setup-failed':
      return [{ kind: 'setup-failed', severity: 'blocking', why: `${tests.step} ${tests.how}` }];
    case 'no-command':
      return [
        {
          kind: 'no-test-command',
          // Documentation requires no tests.
          severity: scope === 'docs-only' ? 'advisory' : 'blocking',
          why: 'no test command was found; set svc.orchestration.testCommand',
        },
      ];
  }
}

function typeFindings(types: readonly TestTypePresence[], scope: DiffScope): VerifyFinding[] {
  return types.flatMap(({ type, state }): VerifyFinding[] => {
    if (state === 'missing')
      return [
        {
          kind: 'test-type-missing',
          severity: 'blocking',
          why: `${scope} changes need ${type} tests; the change has none, and there are none near it`,
        },
      ];
    if (state !== 'unknown') return [];
    return [
      {
        kind: 'test-type-unknown',
        severity: 'blocking',
        why: `${JSON.stringify(type.slice(0, 60))} in svc.orchestration.testRequirements.${scope} cannot be checked: it is not a known test type`,
      },
    ];
  });
}

/** Only `done` passes: an answer that does not count, or none, is not a proof. */
function verifierFindings({ agent, verdict: given, reason, claims }: VerifierResult): VerifyFinding[] {
  if (given === 'done') return [];
  if (given === 'unclear')
    return [
      { kind: 'verifier-unclear', severity: 'blocking', why: `${agent} could not tell whether it is done` },
    ];
  if (given === 'unknown')
    return [
      {
        kind: 'verifier-unknown',
        severity: 'blocking',
        why: shownText(`${agent}: ${reason ?? ''}`, LONGEST_REASON),
      },
    ];
  return claims.flatMap(({ claim, holds, evidence: [first] }) =>
    holds === false && first !== undefined
      ? {
          kind: 'ticket-not-done',
          severity: 'blocking',
          why: shownText(claim),
          path: shownPath(first.file),
          line: first.line,
          text: shownText(first.quote),
        }
      : [],
  );
}

function verifierWords(verifier: VerifierResult | undefined): string[] {
  if (verifier === undefined) return [];
  const { agent, verdict: given, claims } = verifier;
  const words = {
    done: `found it done (${claims.length} claims checked)`,
    'not-done': 'found it not done',
    unclear: 'could not tell whether it is done',
    unknown: 'gave no verdict that counts',
  };
  return [`${agent} ${words[given]}`];
}

function summaryOf(parts: readonly string[], findings: readonly VerifyFinding[], blocking: number): string {
  const advisory = findings.length - blocking;
  const named = findings.slice(0, Math.min(blocking, NAMED_FINDINGS)).map(findingText);
  const counts =
    findings.length === 0
      ? 'no findings'
      : `${blocking} blocking and ${advisory} advisory findings${named.length > 0 ? `: ${named.join('; ')}` : ''}`;
  const text = `${[...parts, counts].join('; ')}.`;
  return text.length > LONGEST_SUMMARY ? `${text.slice(0, LONGEST_SUMMARY - 1).toWellFormed()}…` : text;
}

function testWords(tests: TestRun): string {
  switch (tests.state) {
    case 'passed':
      return `Tests passed (${tests.command}, ${Math.round(tests.ms / 1000)} s)`;
    case 'failed':
      return 'Tests failed';
    case 'timed-out':
      return 'Tests timed out';
    case 'setup-failed':
      return 'Tests were not run, because the setup failed';
    case 'no-command':
      return 'Tests were not run, because no test command is known';
  }
}
