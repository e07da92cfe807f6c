import { describe, expect, test } from 'vitest';
import type { AgentRequest } from '../../workers/agent-fields.ts';
import { answerIn } from './agent-answer.ts';

const permission: AgentRequest = {
  request: '7',
  kind: 'permission',
  title: 'touch made',
  tool: 'one',
  toolKind: 'execute',
  paths: [],
  command: 'touch made',
  options: [
    { kind: 'allow_once', name: 'Yes, proceed' },
    { kind: 'allow_always', name: 'Yes, and do not ask again' },
    { kind: 'reject_once', name: 'No' },
  ],
  fields: [],
};
const field = { name: 'days', title: 'Days', type: 'number' as const, choices: [], required: true };
const question: AgentRequest = { ...permission, kind: 'input', options: [], fields: [field] };

describe('an answer is given without looking up ids', () => {
  test.each([
    ['allow', { answer: 'allow_once' }],
    ['reject', { answer: 'reject_once' }],
    ['allow_always', { answer: 'allow_always' }],
    ['yes, PROCEED', { answer: 'allow_once' }],
    ['Yes, and do not ask again', { answer: 'allow_always' }],
  ])('%s', (given, answer) => expect(answerIn(permission, given, [])).toEqual(answer));

  test('the text for a question with one field', () => {
    expect(answerIn(question, '3', [])).toEqual({ answer: 'accept', content: { days: 3 } });
    expect(answerIn(question, 'accept', ['days=4'])).toEqual({ answer: 'accept', content: { days: 4 } });
    expect(answerIn(question, 'decline', [])).toEqual({ answer: 'decline' });
  });

  test.each([
    ['what the agent does not offer', permission, 'maybe'],
    [
      'the text for a question with several fields',
      { ...question, fields: [field, { ...field, name: 'b' }] },
      '3',
    ],
  ])('%s is refused', (_what, request, given) =>
    expect(() => answerIn(request, given, [])).toThrow(`Unknown answer ${given}.`),
  );
});
