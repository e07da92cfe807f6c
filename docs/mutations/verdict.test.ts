import { describe, expect, test } from 'vitest';
import { judgeMutation, type TestReport, whyNotSound } from './verdict.ts';

const tests = { file: 'a/b.test.ts', names: /is refused/ };

type Result = TestReport['testResults'][number]['assertionResults'][number];

const reportOf = (results: Result[], message = ''): TestReport => ({
  testResults: [
    { name: '/copy/a/b.test.ts', message, assertionResults: results },
    { name: '/copy/c.test.ts', assertionResults: [failing('it is refused', 'AssertionError: elsewhere')] },
  ],
});
const passing = (fullName: string): Result => ({ fullName, status: 'passed', failureMessages: [] });
const failing = (fullName: string, reason: string): Result => ({
  fullName,
  status: 'failed',
  failureMessages: [reason],
});

describe('a mutation is', () => {
  test.each([
    ['caught by an assertion', [failing('it is refused', 'AssertionError: expected 200 to be 401')]],
    [
      'caught by one case of several',
      [passing('a is refused'), failing('b is refused', 'AssertionError: x')],
    ],
    [
      'caught by a promise that should have been rejected',
      [failing('it is refused', 'Error: promise resolved "1" instead')],
    ],
    ['caught by a property', [failing('it is refused', 'Error: Property failed after 1 tests\n{ seed: 1 }')]],
  ])('%s', (_, results) => {
    expect(judgeMutation(reportOf(results), tests)).toEqual({ is: 'caught' });
  });

  test('survived if its tests pass, whatever others do', () => {
    const results = [passing('it is refused'), failing('something else', 'AssertionError: x')];
    expect(judgeMutation(reportOf(results), tests)).toEqual({ is: 'survived' });
  });

  test.each<[string, Result[], string, string]>([
    [
      'a test that never ended',
      [failing('it is refused', 'Error: Test timed out in 20000ms.\nmore')],
      '',
      'Error: Test timed out in 20000ms.',
    ],
    [
      'an error before the assertion',
      [failing('it is refused', 'TypeError: x is not a function')],
      '',
      'TypeError: x is not a function',
    ],
    [
      'a file that does not load',
      [],
      'SyntaxError: Unexpected token\n at x',
      'SyntaxError: Unexpected token',
    ],
    ['no test of that name', [passing('something else')], '', 'no test of that name ran'],
    [
      'a test that was skipped',
      [{ fullName: 'it is refused', status: 'skipped' }],
      '',
      'no test of that name ran',
    ],
  ])('unproved: %s', (_, results, message, why) => {
    expect(judgeMutation(reportOf(results, message), tests)).toEqual({ is: 'unproved', why });
  });
});

test('tests are sound when all of them pass', () => {
  expect(whyNotSound(reportOf([passing('it is refused')]), tests)).toBeUndefined();
  expect(whyNotSound(reportOf([]), tests)).toBe('no test of that name ran');
  const flawed = [passing('a is refused'), failing('b is refused', 'AssertionError: x\nmore')];
  expect(whyNotSound(reportOf(flawed), tests)).toBe('b is refused: AssertionError: x');
});
