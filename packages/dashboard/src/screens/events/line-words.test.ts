import { expect, test } from 'vitest';
import { subjectOf } from './line-list.tsx';

test.each([
  [
    { scope: { ticket: 'A-1', repo: 'o/r', pr: 7 }, detail: { title: 'Fix it' }, actor: { login: 'ann' } },
    'A-1  o/r#7  Fix it  by ann',
  ],
  [{ scope: { repo: 'o/r', sha: '0123456789abcdef' }, detail: {} }, 'o/r  01234567'],
  [
    { scope: { orchestrator: 'run-1' }, detail: { message: '', reason: 'worker-dead' } },
    'run-1  worker-dead',
  ],
  [
    { scope: { ticket: 'A-1', repo: 'o/r' }, detail: { from: 'planning', to: 'implementing', signal: {} } },
    'A-1  planning → implementing  o/r',
  ],
  [{ scope: {}, detail: { title: {} } }, ''],
])('%j is %s', (line, words) => expect(subjectOf(line)).toBe(words));
