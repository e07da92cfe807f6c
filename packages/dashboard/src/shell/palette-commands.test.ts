import { expect, test } from 'vitest';
import { commandsFound, paletteCommands, pollWords } from './palette-commands.ts';

const boardOf = (workers: object[], runs: object[]): never =>
  ({
    workers: new Map(workers.map((one, index) => [String(index), one])),
    runs: new Map(runs.map((one, index) => [String(index), one])),
  }) as never;
const asking = (kind: string) => ({
  ticket: 'TID-1',
  orchestrator: 'run-1',
  agent: { open: [{ request: '7', kind, title: 'Edit src/storage.ts' }] },
});
const board = boardOf(
  [asking('permission'), { ticket: 'TID-2', orchestrator: 'run-1', agent: null }],
  [
    { orchestrator: 'run-1', name: 'Winter', state: 'running', plan: {} },
    { orchestrator: 'run-2', name: null, state: 'paused', plan: {} },
    { orchestrator: 'run-3', name: null, state: 'running', plan: null },
  ],
);
const home = { pathname: '/', search: {} };
const typed = (text: string, on = board, place = home) => commandsFound(paletteCommands(on, place), text);

test('what waits is answered where its question is', () => {
  expect(typed('allow')).toMatchObject([
    {
      name: 'Allow or reject: TID-1, Edit src/storage.ts',
      to: '/tickets/TID-1',
      search: { run: 'run-1' },
    },
  ]);
  expect(typed('answer tid-1', boardOf([asking('input')], []))).toMatchObject([
    { name: 'Answer: TID-1, Edit src/storage.ts' },
  ]);
});

test('a new task is the first that "task" finds', () => {
  expect(typed('task')[0]).toMatchObject({ kind: 'new-task' });
});

test('a managed run can be paused or resumed', () => {
  expect(typed('pause')).toMatchObject([
    { kind: 'run', action: 'pause', run: 'run-1', name: 'Pause run Winter' },
  ]);
  expect(typed('resume')).toMatchObject([{ kind: 'run', action: 'resume', run: 'run-2' }]);
});

test.each(['start', 'allow', 'answer', 'pause', 'poll now', 'wait-for', 'new task'])(
  '"%s" has a result on an empty board',
  (text) => expect(typed(text, boardOf([], []))).not.toEqual([]),
);

test('a poll now says what each feed found', () => {
  const polled = { checked: 3, newEvents: 1, why: null, remedy: null };
  const answer = {
    repos: [{ repaired: 2 }],
    polled: [
      { ...polled, name: 'code host', state: 'polled' },
      { ...polled, name: 'tracker', state: 'disabled', why: 'no project has a token' },
    ],
  };
  expect(pollWords(answer as never)).toBe(
    '2 missed deliveries fetched. code host: 1 new event. tracker: not polled, no project has a token.',
  );
});

test.each([
  ['/tickets/TID-104', {}, 'svc events wait-for --ticket TID-104'],
  [
    '/events',
    { event: 'codehost.pr.*', repo: 'acme/web' },
    "svc events wait-for --event 'codehost.pr.*' --repo acme/web",
  ],
  ['/runs', { event: 'x' }, 'svc events wait-for'],
])('on %s with %j the command is %s', (pathname, search, text) =>
  expect(typed('wait-for', board, { pathname, search })).toMatchObject([{ kind: 'copy', text }]),
);
