import { expect, test } from 'vitest';
import { dependenciesAmong, numberedTicket } from './dependencies.ts';

const relation = (identifier: string, type = 'blocks', state = 'started') => ({
  type,
  issue: { identifier, state: { name: state, type: state } },
});

test('blockers in the list, outside of it, and already done', () => {
  const issues = [
    {
      identifier: 'ABC-2',
      relations: [
        relation('ABC-1'),
        relation('ABC-1'),
        relation('ABC-7'),
        relation('ABC-8', 'blocks', 'completed'),
        relation('ABC-9', 'blocks', 'canceled'),
        relation('ABC-3', 'related'),
      ],
    },
    { identifier: 'ABC-1', relations: [] },
  ];
  expect(dependenciesAmong(['abc-1', 'ABC-2', 'ABC-5'], issues)).toEqual({
    tickets: [
      { ticket: 'abc-1', blockedBy: [] },
      { ticket: 'ABC-2', blockedBy: ['abc-1'] },
      { ticket: 'ABC-5', blockedBy: [] },
    ],
    outside: [{ ticket: 'ABC-2', blocker: 'ABC-7', state: 'started' }],
    unknown: ['ABC-5'],
  });
});

test.each([
  ['ABC-12', { team: 'ABC', number: 12 }],
  ['abc2-1', { team: 'ABC2', number: 1 }],
  ['ABC', undefined],
  ['ABC-x', undefined],
  ['A.B-1', undefined],
  ['ABC-1234567890', undefined],
])('%s', (text, expected) => {
  expect(numberedTicket(text)).toEqual(expected);
});
