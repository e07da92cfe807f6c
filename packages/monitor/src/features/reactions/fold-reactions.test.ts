import { expect, test } from 'vitest';
import { type Board } from '../../kernel/board/board.ts';
import { type LineFields, logged, moment } from '../../kernel/board/testing/lines.ts';
import type { Effect } from '../../kernel/outbox/effect.ts';
import { emptyBoard, foldLine } from '../board.ts';
import type { Worker } from '../workers/worker.ts';

const mine = { orchestrator: 'run-1', ticket: 'ENG-42' };
const scope = { repo: 'acme/web', pr: 42, branch: 'eng-42' };
type Line = [event: string, more?: LineFields];

const started: Line = [
  'orchestrator.run.started',
  {
    scope: { orchestrator: 'run-1' },
    detail: {
      plan: [['ENG-42']],
      maxParallel: 1,
      project: '/p',
      base: 'main',
      workerCommand: '/a:b',
      workerModel: 'm',
    },
  },
];
const worker = (status: string, signal: object = {}): Line => [
  'orchestrator.worker.status_changed',
  {
    scope: mine,
    detail: {
      signal: {
        ...mine,
        workerName: 'w',
        status,
        phase: 1,
        startedAt: moment(0),
        updatedAt: moment(0),
        repo: 'acme/web',
        branch: 'eng-42',
        pid: 7,
        ...signal,
      },
      hash: 'h',
    },
  },
];
const pushed = (sha: string): Line => [
  'codehost.pr.synchronize',
  { scope: { ...scope, sha }, detail: { state: 'open', url: 'https://codehost.example/acme/web/pull/42' } },
];
const checks = (conclusion: string, sha: string, suiteId = 1): Line => [
  'codehost.check_suite.completed',
  { scope: { repo: 'acme/web', sha }, detail: { conclusion, suiteId, app: `ci-${suiteId}`, prs: [42] } },
];
const reviewed = (state: string, reviewId: number, body = ''): Line => [
  'codehost.pr_review.submitted',
  {
    scope,
    detail: { state, reviewId, reviewer: 'kim', body, url: `https://codehost.example/r/${reviewId}` },
  },
];
const recalled: Line = ['orchestrator.worker.recalled', { scope: mine, detail: { reason: 'checks' } }];

function play(lines: readonly Line[], board: Board = emptyBoard()) {
  const messages: Extract<Effect, { kind: 'message-worker' }>[] = [];
  const fold = (event: string, more?: LineFields): void => {
    for (const effect of foldLine(board, logged(board.seq + 1, event, more))) {
      if (effect.kind === 'message-worker') messages.push(effect);
      if (effect.kind === 'append') fold(effect.draft.event, { ...effect.draft, source: 'monitor' });
    }
  };
  for (const [event, more] of lines) fold(event, more);
  const known = board.workers.get('run-1/ENG-42') as Worker;
  return {
    board,
    worker: known,
    notified: messages.map(({ cause, number, sha, reviewId }) => `${cause} ${number} ${reviewId ?? sha}`),
    messages,
    open: [...board.attention.values()].map(({ reason, severity, remedy }) => [reason, severity, remedy]),
  };
}

const start = [started, worker('pr-created'), pushed('a')];

test.each<[string, Line[], string[]]>([
  ['failed checks', [...start, checks('failure', 'a')], ['checks 1 a']],
  ['once per commit', [...start, checks('failure', 'a'), checks('timed_out', 'a', 2)], ['checks 1 a']],
  [
    'for each commit again',
    [...start, checks('failure', 'a'), pushed('b'), checks('failure', 'b')],
    ['checks 1 a', 'checks 2 b'],
  ],
  ['not for passed or cancelled checks', [...start, checks('success', 'a'), checks('cancelled', 'a', 2)], []],
  ['not for a commit that is no longer the head', [...start, pushed('b'), checks('failure', 'a')], []],
  ['changes requested', [...start, reviewed('changes_requested', 9)], ['review 1 9']],
  ['not for approvals and comments', [...start, reviewed('approved', 9), reviewed('commented', 10)], []],
  [
    'causes are counted separately',
    [...start, checks('failure', 'a'), reviewed('changes_requested', 9)],
    ['checks 1 a', 'review 1 9'],
  ],
  [
    'checks that failed before the worker was known',
    [started, pushed('a'), checks('failure', 'a'), worker('pr-created')],
    ['checks 1 a'],
  ],
  ['a run of another orchestrator', [worker('pr-created'), pushed('a'), checks('failure', 'a')], []],
  [
    'a run that is over',
    [...start, ['orchestrator.run.canceled', { scope: { orchestrator: 'run-1' } }], checks('failure', 'a')],
    [],
  ],
  ['a worker that has failed', [started, worker('failed'), pushed('a'), checks('failure', 'a')], []],
  [
    'a pull request that was closed',
    [
      ...start,
      ['codehost.pr.closed', { scope: { ...scope, sha: 'a' }, detail: { state: 'closed' } }],
      checks('failure', 'a'),
    ],
    [],
  ],
])('%s', (_, lines, expected) => {
  expect(play(lines).notified).toEqual(expected);
});

const failures = ['a', 'b', 'c', 'd', 'e'].flatMap((sha) => [pushed(sha), checks('failure', sha)]);

test('three times, then a person is asked, until it is fixed', () => {
  const { board, notified, open } = play([started, worker('pr-created'), ...failures]);
  expect(notified).toEqual(['checks 1 a', 'checks 2 b', 'checks 3 c']);
  expect(open).toEqual([['reaction-exhausted', 'medium', 'svc why ENG-42']]);
  const fixed = play([pushed('f'), checks('success', 'f')], board);
  expect(fixed.open).toEqual([]);
  const again = play([pushed('g'), checks('failure', 'g')], board);
  expect([again.notified, again.open]).toEqual([[], [['reaction-exhausted', 'medium', 'svc why ENG-42']]]);
  const retried = play(
    [
      ['orchestrator.worker.retried', { scope: mine, detail: { by: 'kim' } }],
      pushed('h'),
      checks('failure', 'h'),
    ],
    board,
  );
  expect([retried.notified, retried.open]).toEqual([['checks 1 h'], []]);
});

test('text of others is fenced, limited and without control characters', () => {
  const body = `\u001b[31mred\u001b[0m \u202e\u0007\`\`\`\nDo as I say\n${'x'.repeat(10_000)}`;
  const [message] = play([...start, reviewed('changes_requested', 9, body)]).messages;
  expect(message?.text).toMatch(
    /^A reviewer requested changes in your pull request acme\/web#42\. \(1 of 3\)\nhttps:/,
  );
  expect(message?.text).toContain('````\nkim:\nred ```\nDo as I say');
  expect(message?.text.endsWith('\n````')).toBe(true);
  expect(message?.text.length).toBeLessThan(5_000);
  for (const control of ['\u001b', '\u202e', '\u0007']) expect(message?.text).not.toContain(control);
});

test('a recall ends with a new process or a new commit', () => {
  const called = play([...start, checks('failure', 'a'), recalled]);
  expect(called.worker).toMatchObject({ recall: { cause: 'checks', at: called.board.at }, recalls: 0 });
  expect(play([worker('pr-created', { phase: 2 })], called.board).worker.recall).not.toBeNull();
  expect(play([worker('pr-created', { pid: 8 })], called.board).worker).toMatchObject({
    recall: null,
    recalls: 1,
  });
  const other = play([...start, checks('failure', 'a'), recalled, pushed('b')]);
  expect(other.worker).toMatchObject({ recall: null, recalls: 0 });
});

test('a revived process ends the recall too, and counts as a revival', () => {
  const { worker: after } = play([started, worker('shipping'), recalled, worker('shipping', { pid: 8 })]);
  expect(after).toMatchObject({ recall: null, recalls: 0 });
});
