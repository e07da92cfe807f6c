// The verdict on a mutation. Only a failed assertion in a named test proves that the test covers the row; a file that does
// not load, a test that never ended or no test at all prove nothing.

/** The fields that are read of the report of `vitest --reporter=json`. */
export type TestReport = {
  testResults: readonly {
    name: string;
    message?: string;
    assertionResults: readonly {
      fullName: string;
      status: string;
      failureMessages?: readonly (string | null)[] | null;
    }[];
  }[];
};

/** `survived`: the tests passed. `unproved`: they failed, but not by an assertion. */
export type Verdict = { is: 'caught' } | { is: 'survived' } | { is: 'unproved'; why: string };

type Tests = { file: string; names: RegExp };

export function judgeMutation(report: TestReport, tests: Tests): Verdict {
  const results = resultsOf(report, tests);
  if (results.length === 0) return { is: 'unproved', why: whyNothingRan(report, tests) };
  const failures = results.filter(({ status }) => status === 'failed');
  if (failures.length === 0) return { is: 'survived' };
  const reasons = failures.flatMap(({ failureMessages }) => failureMessages ?? []);
  if (reasons.some((reason) => reason !== null && isAssertion(reason))) return { is: 'caught' };
  return { is: 'unproved', why: firstLine(reasons[0] ?? 'it failed without a reason') };
}

/** Why the tests fail even without the mutation; undefined if they pass. */
export function whyNotSound(report: TestReport, tests: Tests): string | undefined {
  const results = resultsOf(report, tests);
  if (results.length === 0) return whyNothingRan(report, tests);
  const failure = results.find(({ status }) => status !== 'passed');
  return failure && `${failure.fullName}: ${firstLine(failure.failureMessages?.[0] ?? failure.status)}`;
}

/**
 * Of vitest, of its `rejects` and `resolves`, of a fact that `until` or a page's locator waited for, and of a case that
 * fast-check found.
 */
function isAssertion(reason: string): boolean {
  return /^(?:AssertionError\b|Error: (?:expected|promise resolved|promise rejected|Property failed after|waited) |(?:TimeoutError: )?locator\.waitFor: Timeout )/.test(
    reason,
  );
}

function resultsOf({ testResults }: TestReport, { file, names }: Tests) {
  return testResults
    .filter(({ name }) => name.endsWith(`/${file}`))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName, status }) => names.test(fullName) && (status === 'passed' || status === 'failed'));
}

function whyNothingRan({ testResults }: TestReport, { file }: Tests): string {
  const message = testResults.find(({ name }) => name.endsWith(`/${file}`))?.message;
  return message === undefined || message === '' ? 'no test of that name ran' : firstLine(message);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 200) ?? '';
}
