import type { BoardView } from '@svc/core';
import { expect, test } from 'vitest';
import { endingLines } from './play.ts';

const boardWith = (attention: object[]) =>
  ({
    seq: 620,
    workers: [{ status: 'done' }, { status: 'done' }, { status: 'planning' }],
    attention,
  }) as unknown as BoardView;

test('the end counts what the board says', () => {
  const [first, second] = endingLines(boardWith([]));
  expect(first).toBe('17:30  The day is over: 2 of 3 tickets are done, 0 things wait for somebody.');
  expect(second).toBe('');
});

test('the end names what still waits for the person', () => {
  const lines = endingLines(boardWith([{ ticket: 'TID-106', reason: 'deploy-budget-exhausted' }]));
  expect(lines[1]).toContain('TID-106 still waits for you');
});
