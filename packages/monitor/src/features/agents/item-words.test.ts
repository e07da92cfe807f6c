import { expect, test } from 'vitest';
import { answerWords, turnWords } from './item-words.ts';
import type { ConversationItem } from './schemas.ts';

type Request = Extract<ConversationItem, { kind: 'request' }>;

const asked = (answer: string | null, by: string | null, toolKind: string | null = 'edit'): Request => ({
  id: 'r1',
  rev: 1,
  kind: 'request',
  request: {
    request: '1',
    kind: 'permission',
    title: 'Edit src/storage.ts',
    tool: null,
    toolKind,
    paths: [],
    command: null,
    options: [
      { kind: 'allow_once', name: 'Allow this edit' },
      { kind: 'allow_always', name: 'Allow all edits' },
      { kind: 'reject_once', name: 'No' },
    ],
    fields: [],
  },
  answer,
  by,
});

test.each([
  [asked(null, null), null],
  [asked('Allow this edit', 'a person'), 'You allowed this edit'],
  [asked('Allow this edit', 'kim'), 'You allowed this edit'],
  [asked('Allow this edit', 'alex'), 'alex allowed this edit'],
  [asked('Allow this edit', null), 'Allowed this edit'],
  [asked('No', 'kim', 'execute'), 'You rejected this command'],
  [asked('No', 'kim', 'other'), 'You rejected this'],
  [asked('Allow all edits', 'kim'), 'You answered: Allow all edits'],
  [asked('accept', 'kim'), 'You answered'],
  [asked('decline', 'alex'), 'alex declined to answer'],
  [asked('cancelled', 'kim'), 'You stopped the agent instead'],
  [asked('cancelled', null), 'Nobody answered before the agent ended'],
  [asked('withdrawn by the agent', null), 'The agent withdrew it'],
])('an answer %#: %s', (item, words) => expect(answerWords(item, 'kim')).toBe(words));

test.each([
  [{ ok: true, reason: 'end_turn' }, null],
  [{ ok: true, reason: 'cancelled' }, 'Stopped'],
  [{ ok: false, reason: 'cancelled', by: 'a person' }, 'You stopped it'],
  [{ ok: true, reason: 'cancelled', by: 'kim' }, 'You stopped it'],
  [{ ok: true, reason: 'cancelled', by: 'alex' }, 'alex stopped it'],
  [{ ok: true, reason: 'refusal' }, 'The agent refused'],
  [{ ok: true, reason: '' }, 'Turn ended'],
  [{ ok: true, reason: 'out_of_ideas' }, 'Turn ended: out_of_ideas'],
  [{ ok: false, reason: 'end_turn' }, 'Turn failed: end_turn'],
  [{ ok: false, reason: 'Internal error' }, 'Turn failed: Internal error'],
])('a turn that ended %j reads %j', (turn, words) => expect(turnWords(turn, 'kim')).toBe(words));
