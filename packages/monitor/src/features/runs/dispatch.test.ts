// What the daemon's own tests (packages/monitor/e2e/dispatch.test.ts) cannot show: lines of the code host and of a poll,
// several projects, and an effect that has waited.
import { expect, test } from 'vitest';
import { Config } from '../config.ts';
import { decideDispatch, dispatchOf, dispatchRefusal, type StartRun } from './dispatch.ts';

const entry = { repo: 'acme/web', label: 'svc:run', assignee: 'bot', authors: ['kim'] };
const at = '2026-01-02T03:00:00.000Z';
const projects = new Map([['/web', { dispatch: { prefix: 'GH', entries: [entry] } }]]);
const ticket = { ticket: 'GH-1', labels: ['bug'], assignee: null, removed: false };
const labeledTicket = { ...ticket, labels: ['bug', 'svc:run'] };

type Line = Parameters<typeof decideDispatch>[3];
const line = (given: Partial<Line> = {}, detail: Line['detail'] = {}): Line => ({
  ts: at,
  occurredAt: at,
  event: 'tracker.issue.updated',
  source: 'codehost.webhook',
  scope: { ticket: 'GH-1', repo: 'acme/web' },
  actor: { login: 'kim', type: 'User' },
  ...given,
  detail: { author: { name: 'kim' }, labelsAdded: ['svc:run'], ...detail },
});
const poll = { source: 'tracker.poll', actor: undefined, scope: { ticket: 'GH-1' } } as const;
const unseen: Line['detail'] = { labelsAdded: undefined };
const unknown = { start: false, invited: false, reason: 'it is not known who is behind the label svc:run' };

test.each<[string, Line, object | undefined]>([
  ['a label', line(), { start: true, project: '/web', actor: 'kim', author: 'kim', by: '"kim"' }],
  ['a fork', line({ scope: { ticket: 'GH-1', repo: 'mallory/web' } }), undefined],
  ['a login of the same letters', line({ actor: { login: 'Kim' } }), { start: false, invited: false }],
  ['a closed issue', line({}, { state: { type: 'completed' } }), { start: false, invited: true }],
  ['a poll that finds the label', line(poll, unseen), unknown],
  ['a line that a helper could write', line({ source: 'cli' }), unknown],
])('on the code host: %s', (_, given, expected) => {
  const decision = decideDispatch(projects, ticket, labeledTicket, given);
  if (expected === undefined) expect(decision).toBeUndefined();
  else expect(decision).toMatchObject(expected);
});

test('a poll that finds a ticket for the first time: only a new one asks for a run', () => {
  const created = line({ ...poll, event: 'tracker.issue.created' }, unseen);
  expect(decideDispatch(projects, undefined, labeledTicket, created)).toMatchObject(unknown);
  expect(decideDispatch(projects, undefined, labeledTicket, line(poll, unseen))).toBeUndefined();
});

test('a label that is gone already, or an assignee, asks for nothing', () => {
  expect(decideDispatch(projects, ticket, ticket, line())).toBeUndefined();
  const assigned = line({}, { ...unseen, assigned: { name: 'bot' } });
  expect(decideDispatch(projects, ticket, ticket, assigned)).toBeUndefined();
  expect(decideDispatch(projects, ticket, { ...ticket, assignee: 'bot' }, assigned)).toMatchObject({
    start: true,
    because: 'the assignment to bot',
  });
});

test('of several entries one that allows it is enough, of several projects none is guessed', () => {
  const strict = { ...entry, authors: ['lee'] };
  const both = new Map([['/web', { dispatch: { prefix: 'gh', entries: [strict, entry] } }]]);
  expect(decideDispatch(both, ticket, labeledTicket, line())).toMatchObject({ start: true });
  const two = new Map([...projects, ['/copy', { dispatch: { prefix: 'GH', entries: [entry] } }]]);
  expect(decideDispatch(two, ticket, labeledTicket, line())).toMatchObject({
    start: false,
    invited: true,
    reason: 'several projects have entries for tickets like GH-1',
  });
});

test('the entries of a project: for its repository, from a file that is valid now', () => {
  const config = Config.parse({
    svc: {
      repository: { org: 'acme', name: 'web' },
      project: { ticketPrefix: 'GH' },
      orchestration: { dispatch: [entry, { ...entry, repo: 'acme/api' }] },
    },
  });
  const path = ['svc', 'orchestration', 'dispatch'];
  const file = { kind: 'file', file: '/c', line: 1, writtenAs: path.join('.'), deprecated: false } as const;
  expect(dispatchOf(config, [{ path, source: file }])).toEqual({ prefix: 'GH', entries: [entry] });
  expect(dispatchOf(config, [{ path, source: { kind: 'last-good', file: '/c' } }])).toBeUndefined();
  expect(dispatchOf(config, [])).toBeUndefined();
});

test('an effect that has waited starts nothing if the entry is gone, or after a day', () => {
  const effect: StartRun = {
    kind: 'start-run',
    key: '7:start-run:GH-1',
    seq: 7,
    ticket: 'GH-1',
    project: '/web',
    repo: 'acme/web',
    actor: 'kim',
    author: 'kim',
    by: 'kim',
    because: 'the label svc:run',
    at,
  };
  const now = Date.parse(at);
  const board = { projects, runs: new Map() };
  expect(dispatchRefusal(board, effect, '/web', now)).toBeUndefined();
  expect(dispatchRefusal(board, effect, '/web', now + 86_400_001)?.reason).toBe(
    'it waited for more than a day',
  );
  expect(dispatchRefusal(board, { ...effect, author: 'lee' }, '/web', now)?.reason).toContain(
    'no longer allows',
  );
  const without = { ...board, projects: new Map([['/web', {}]]) };
  expect(dispatchRefusal(without, effect, '/web', now)?.reason).toContain('no longer allows');
});
