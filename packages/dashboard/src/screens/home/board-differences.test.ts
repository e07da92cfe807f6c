import { describe, expect, test } from 'vitest';
import { boardDifferences, countOf } from './changes-line.tsx';

const keyed = (entities: { key: string }[] = []): never =>
  new Map(entities.map((one) => [one.key, one])) as never;
const board = (
  given: { workers?: object[]; pullRequests?: object[]; attention?: object[]; tickets?: object[] } = {},
) => ({
  workers: keyed(given.workers as never),
  pullRequests: keyed(given.pullRequests as never),
  attention: keyed(given.attention as never),
  tickets: keyed(given.tickets as never),
});

const worker = (status: string, given: object = {}) => ({
  key: 'run-1/ENG-1',
  ticket: 'ENG-1',
  orchestrator: 'run-1',
  status,
  statusSeq: 20,
  removed: false,
  ...given,
});
const pullRequest = (state: string, given: object = {}) => ({
  key: 'acme/web#12',
  name: 'acme/web#12',
  ticket: 'ENG-1',
  title: 'Log in',
  state,
  lastSeq: 30,
  ...given,
});
const item = (given: object = {}) => ({
  key: 'run-1/ENG-1/question',
  orchestrator: 'run-1',
  ticket: 'ENG-1',
  feed: null,
  reason: 'question',
  message: 'Which one?',
  openedSeq: 40,
  ...given,
});

test('equal boards have no differences', () => {
  const same = board({ workers: [worker('done')], pullRequests: [pullRequest('open')], attention: [item()] });
  expect(boardDifferences(same, same)).toEqual([]);
});

test('all changes of a ticket are one entry, each with from and to', () => {
  const before = board({ workers: [worker('implementing')], pullRequests: [] });
  const after = board({
    workers: [worker('merged')],
    pullRequests: [pullRequest('merged', { ticket: 'eng-1' })],
    attention: [item()],
    tickets: [{ key: 'ENG-1', ticket: 'ENG-1', title: 'Passkeys' }],
  });
  const found = boardDifferences(before, after);
  expect(found).toMatchObject([
    {
      subject: 'ENG-1',
      run: 'run-1',
      title: 'Passkeys',
      lastSeq: 40,
      changes: [
        { what: 'Agent', from: 'Implementing', to: 'Merged' },
        { what: 'Pull request acme/web#12', from: null, to: 'merged' },
        { what: 'Needs you', to: 'Which one?', needsYou: true },
      ],
    },
  ]);
  expect(countOf(found)).toBe(3);
});

describe('workers', () => {
  test('a new worker has no previous status', () =>
    expect(boardDifferences(board(), board({ workers: [worker('planning')] }))).toMatchObject([
      { changes: [{ from: null, to: 'Planning' }] },
    ]));
  test('a worker whose signal file was removed', () =>
    expect(
      boardDifferences(
        board({ workers: [worker('planning')] }),
        board({ workers: [worker('planning', { removed: true })] }),
      ),
    ).toMatchObject([{ changes: [{ from: 'Planning', to: 'No longer tracked' }] }]));
  test('a worker that only settled is not a change', () =>
    expect(boardDifferences(board({ workers: [worker('done')] }), board())).toEqual([]));
});

describe('attention', () => {
  test('a resolved item', () =>
    expect(boardDifferences(board({ attention: [item()] }), board())).toMatchObject([
      { changes: [{ what: 'Attention', to: 'Question from an agent: resolved', needsYou: false }] },
    ]));
  test('an item that was resolved and raised again is new', () =>
    expect(
      boardDifferences(board({ attention: [item()] }), board({ attention: [item({ openedSeq: 50 })] })),
    ).toMatchObject([{ changes: [{ needsYou: true }] }]));
  test('an item of a feed has the name of the feed', () =>
    expect(
      boardDifferences(board(), board({ attention: [item({ ticket: null, feed: 'codehost' })] })),
    ).toMatchObject([{ subject: 'codehost feed', ticket: null }]));
});

test('the newest difference is first', () => {
  const after = board({
    workers: [worker('done'), worker('planning', { key: 'run-1/ENG-2', ticket: 'ENG-2', statusSeq: 90 })],
  });
  expect(boardDifferences(board(), after).map(({ subject }) => subject)).toEqual(['ENG-2', 'ENG-1']);
});
