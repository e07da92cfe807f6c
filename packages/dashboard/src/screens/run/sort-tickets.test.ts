import { expect, test } from 'vitest';
import type { RunTicket } from './run-model.ts';
import { type Sort, sortTickets } from './workers-table.tsx';

const ticket = (name: string, meaning: RunTicket['label']['meaning'], given: Partial<RunTicket>) =>
  ({
    ticket: name,
    status: 'implementing',
    since: null,
    costUsd: null,
    label: { meaning },
    ...given,
  }) as RunTicket;
const all = [
  ticket('A-10', 'motion', { costUsd: 1, since: '2026-11-09T10:00:00.000Z' }),
  ticket('A-2', 'proven', { status: 'done', costUsd: 7, since: '2026-11-09T08:00:00.000Z' }),
  ticket('A-3', 'you', { status: 'failed', costUsd: 3, since: '2026-11-09T09:00:00.000Z' }),
  ticket('A-4', 'unknown', { status: null }),
];
const order = (sort: Sort): string[] => sortTickets(all, sort).map((one) => one.ticket);

test('tickets that need a person come first', () => {
  expect(order({ by: 'status', down: false })).toEqual(['A-3', 'A-10', 'A-2', 'A-4']);
});

test('by cost and by age, unknown values last in both directions', () => {
  expect(order({ by: 'cost', down: true })).toEqual(['A-2', 'A-3', 'A-10', 'A-4']);
  expect(order({ by: 'cost', down: false })).toEqual(['A-10', 'A-3', 'A-2', 'A-4']);
  expect(order({ by: 'age', down: true })).toEqual(['A-2', 'A-3', 'A-10', 'A-4']);
});

test('names sort by number', () => {
  expect(order({ by: 'ticket', down: false })).toEqual(['A-2', 'A-3', 'A-4', 'A-10']);
});
