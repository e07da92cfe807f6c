import { expect, test } from 'vitest';
import { Failure } from '../../errors.ts';
import { problemOf, problemText } from './server.ts';

const told: string[] = [];
const terminal = { err: (line: string) => void told.push(line) };

test('a failure keeps its code and its remedy', () => {
  const problem = problemOf(new Failure('unknown-ticket', 'Nobody knows ENG-9.', 'See: svc board'), terminal);
  expect(problem).toEqual({
    code: 'unknown-ticket',
    message: 'Nobody knows ENG-9.',
    remedy: 'See: svc board',
  });
  expect(problemText(problem)).toBe('error unknown-ticket: Nobody knows ENG-9.\nSee: svc board');
});

test('a bug is told on standard error with its stack, and to the client without', () => {
  const problem = problemOf(new RangeError('secret detail'), terminal);
  expect(problem.code).toBe('bug');
  expect(problemText(problem)).not.toContain('secret detail');
  expect(told.join('\n')).toContain('RangeError: secret detail');
});

test('a message that quotes somebody steers no terminal', () => {
  const text = problemText({ code: 'usage', message: 'found \u001b[2J\nx', remedy: null });
  expect(text).toBe('error usage: found ?[2J\nx');
});
