import { expect, test } from 'vitest';
import { Failure } from '../../../kernel/failure.ts';
import { problemOf, problemText } from './server.ts';

const logged: string[] = [];
const terminal = { err: (line: string) => void logged.push(line) };

test('a failure keeps its code and its remedy', () => {
  const problem = problemOf(
    new Failure('unknown-ticket', 'Unknown ticket ENG-9.', 'See: svc board'),
    terminal,
  );
  expect(problem).toEqual({
    code: 'unknown-ticket',
    message: 'Unknown ticket ENG-9.',
    remedy: 'See: svc board',
  });
  expect(problemText(problem)).toBe('error unknown-ticket: Unknown ticket ENG-9.\nSee: svc board');
});

test('a bug is logged to standard error with its stack, and reported to the client without it', () => {
  const problem = problemOf(new RangeError('secret detail'), terminal);
  expect(problem.code).toBe('bug');
  expect(problemText(problem)).not.toContain('secret detail');
  expect(logged.join('\n')).toContain('RangeError: secret detail');
});

test('a quoted text cannot control the terminal', () => {
  const text = problemText({ code: 'usage', message: 'found \u001b[2J\nx', remedy: null });
  expect(text).toBe('error usage: found ?[2J\nx');
});
