import { expect, test } from 'vitest';
import { ticketOfSession } from './sessions.tsx';

const byKey = (...rows: object[]) => new Map(rows.map((row, index) => [String(index), row])) as never;
const board = {
  workers: byKey({ branch: 'fix-a', ticket: 'ENG-1' }),
  pullRequests: byKey({ branch: 'fix-b', ticket: 'ENG-2' }, { branch: 'fix-c', ticket: null }),
  tickets: byKey({ ticket: 'ENG-2', title: 'Log in' }, { ticket: 'ENG-12', title: 'Show the tax' }),
};

test.each([
  ['of a worker', 'fix-a', { ticket: 'ENG-1', title: null }],
  ['of a pull request', 'fix-b', { ticket: 'ENG-2', title: 'Log in' }],
  ['named by the branch', 'kim/eng-12-tax', { ticket: 'ENG-12', title: 'Show the tax' }],
  ['another ticket that begins alike', 'eng-123', null],
  ['a word that ends alike', 'beng-12', null],
  ['a branch without a ticket', 'fix-c', null],
  ['no branch', null, null],
])('the ticket of a session: %s', (_what, branch, known) =>
  expect(ticketOfSession({ branch }, board)).toEqual(known),
);
