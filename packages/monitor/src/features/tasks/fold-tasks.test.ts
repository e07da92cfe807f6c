import { expect, test } from 'vitest';
import type { Board } from '../../kernel/board/board.ts';
import { draft } from '../../kernel/log/event-line.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from '../board.ts';
import { localTicketText } from './local-tickets.ts';
import { LONGEST_TASK, localPrefix, readTask } from './task.ts';

const asked = (task: string, local: boolean) =>
  draft('workflow.task.requested', {}, { task, title: `Do ${task}`, body: 'Now.', local, project: '/web' });

function fold(board: Board, ...lines: ReturnType<typeof draft>[]) {
  return lines.flatMap((line) =>
    foldLine(board, { ...line, seq: board.seq + 1, ts: '2026-01-02T03:04:05.000Z' }),
  );
}

test('local tickets have numbers of their own, and keep them over a restart', () => {
  const before = emptyBoard();
  const effects = fold(before, asked('a', true), asked('b', false), asked('c', true));
  expect(effects.map(({ kind }) => kind)).toEqual(['start-task', 'start-task', 'start-task']);
  const board = unpackBoard(JSON.parse(JSON.stringify(packBoard(before))));
  fold(board, asked('d', true), asked('a', true));
  expect([...board.tasks.values()].map(({ key, ticket }) => [key, ticket])).toEqual([
    ['a', 'T-1'],
    ['b', null],
    ['c', 'T-2'],
    ['d', 'T-3'],
  ]);
  expect(localTicketText(board, 't-2')).toEqual({ title: 'Do c', body: 'Now.' });
  expect(localTicketText(board, 'GH-1')).toBeUndefined();
});

test('only the daemon can ask for a task', () => {
  const board = emptyBoard();
  expect(fold(board, { ...asked('a', true), source: 'cli' })).toEqual([]);
  expect(board.tasks.size).toBe(0);
});

test('the phase of a local ticket is kept here; no tracker is asked to move it', () => {
  const board = emptyBoard();
  fold(board, asked('a', true), draft('workflow.task.filed', { ticket: 'T-1' }, { task: 'a' }));
  const phase = draft('workflow.ticket.phase_changed', { ticket: 'T-1' }, { to: 'inReview' });
  expect(fold(board, phase)).toEqual([]);
  expect(board.tickets.get('T-1')).toMatchObject({
    local: true,
    state: { name: 'In Review', type: 'started' },
  });
  const issue = draft('tracker.issue.created', { ticket: 'T-1' }, { title: 'Of another' });
  fold(board, issue);
  expect(board.tickets.get('T-1')?.title).toBe('Do a');
});

test.each([
  ['one line', 'Fix it', { ok: true, title: 'Fix it', body: '' }],
  ['title and body', '\r\nFix it\r\n\r\nNow.\n', { ok: true, title: 'Fix it', body: 'Now.' }],
  ['hidden characters', 'a\u202eb', { ok: true, title: 'a[U+202E]b', body: '' }],
  ['nothing', ' \n', { ok: false }],
  ['too long', 'x'.repeat(LONGEST_TASK + 1), { ok: false }],
  ['too many hidden characters', `x\n${'\u0000'.repeat(LONGEST_TASK - 2)}`, { ok: false }],
])('the text of a task: %s', (_, text, read) => expect(readTask(text)).toMatchObject(read));

test('a long first line is cut in the title, and whole in the body', () => {
  const line = 'x'.repeat(400);
  expect(readTask(line)).toEqual({ ok: true, title: expect.stringContaining('[cut '), body: line });
});

test('the prefix is not that of a project', () => {
  expect(localPrefix(['GH', undefined])).toBe('T');
  expect(localPrefix(['t'])).toBe('TASK');
});
