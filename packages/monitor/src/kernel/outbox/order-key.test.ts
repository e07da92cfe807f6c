import { expect, test } from 'vitest';
import { effectKinds } from '../../features/effect-kinds.ts';
import { draft } from '../log/event-line.ts';
import type { Effect } from './effect.ts';
import { laneOf, orderKeyOf } from './outbox-rules.ts';

const base = { key: '7:x:y', seq: 7 };
const table: [Effect, string | null][] = [
  [
    {
      ...base,
      kind: 'write-signal',
      orchestrator: 'run-1',
      ticket: 'ABC-1',
      status: 'done',
      pr: null,
      deploy: null,
    },
    'write-signal:run-1/ABC-1',
  ],
  [{ ...base, kind: 'move-ticket', ticket: 'ABC-1', phase: 'done' }, 'move-ticket:ABC-1'],
  [
    {
      ...base,
      kind: 'append',
      draft: draft('orchestrator.run.paused', { orchestrator: 'run-1', ticket: 'ABC-1' }, {}),
    },
    'append:run-1/ABC-1',
  ],
  [{ ...base, kind: 'refresh-pull-request', repo: 'acme/web', pr: 1 }, null],
  [
    { ...base, kind: 'prove-descendant', repo: 'acme/web', mergeSha: 'a', sha: 'b', worktreePath: null },
    null,
  ],
  [
    {
      ...base,
      kind: 'notify',
      attention: '-/-/feed-blind',
      reason: 'feed-blind',
      severity: 'high',
      message: '',
      remedy: null,
    },
    null,
  ],
  [{ ...base, kind: 'team-command', command: 'm/1', from: 'm' }, 'team-command:m'],
];

test.each(table)('%j', (effect, expected) => {
  expect(orderKeyOf(effectKinds, effect)).toBe(expected);
  // Effects with one order key must be in one lane.
  expect(expected ?? effect.kind).toMatch(new RegExp(`^${effect.kind}`));
});

test('what only writes on this machine shares its lane with no call to a service', () => {
  const local = Object.keys(effectKinds).filter((kind) => laneOf(effectKinds, kind) === 'local');
  expect(local.toSorted()).toEqual(['append', 'refresh-pull-request', 'write-signal']);
  expect(laneOf(effectKinds, 'toString')).toBe('local');
});
