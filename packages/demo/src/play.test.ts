import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { expect, test } from 'vitest';
import { endingLines } from './play.ts';

const boardWith = (attention: object[]) =>
  ({
    needsYou: attention.length,
    seq: 620,
    workers: [{ status: 'done' }, { status: 'done' }, { status: 'planning' }],
    attention,
  }) as unknown as BoardView & { needsYou: number };

test('the ending has the counts of the board', () => {
  const [first, second] = endingLines(boardWith([]));
  expect(first).toBe('17:30  The day is over: 2 of 3 tickets are done, 0 need you.');
  expect(second).toBe('');
});

test('the ending names the ticket that is still waiting', () => {
  const lines = endingLines(boardWith([{ ticket: 'TID-106', reason: 'deploy-budget-exhausted' }]));
  expect(lines[1]).toContain('TID-106 is still waiting for you');
});

test('the ending has the number of the screens, in the singular too', () => {
  const waiting = [{ ticket: 'TID-105', reason: 'deploy-failed' }];
  expect(endingLines({ ...boardWith(waiting), needsYou: 1 })[0]).toMatch(
    /2 of 3 tickets are done, 1 needs you\.$/,
  );
});
