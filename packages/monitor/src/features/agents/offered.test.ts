import { describe, expect, test } from 'vitest';
import { isReady, type SessionSetup, startProblem, withMark } from './messages.ts';
import { CHOSEN, changeRequest, wanted } from './offered.ts';
import { type AgentEntry, type AgentSession, foldAgent, newAgentSession } from './session.ts';

const fold = (before: AgentSession, ...entries: AgentEntry[]): AgentSession =>
  entries.reduce(foldAgent, before);
const fromAgent = (message: Record<string, unknown>): AgentEntry => ({ from: 'agent', message });
const update = (fields: object): AgentEntry =>
  fromAgent({ method: 'session/update', params: { update: fields } });
const option = (mode: string) => ({
  id: 'mode',
  category: 'mode',
  currentValue: mode,
  options: ['ask', 'plan'].map((value) => ({ value, name: value })),
});
const setup: SessionSetup = {
  cwd: '/work',
  resume: null,
  mode: 'ask',
  model: null,
  ticket: null,
  prompt: 'go',
  continuation: null,
};
const sent = ['initialize', 'session/new', 'session/prompt'];
const opened = fold(
  newAgentSession,
  { from: 'svc', message: { id: 1, method: 'session/new', params: {} } },
  fromAgent({ id: 1, result: { sessionId: 's', configOptions: [option('ask')] } }),
);
const request = (id: number, kind: string | undefined, value = 'plan'): AgentEntry => {
  const change = changeRequest(opened, 'mode', value) ?? { method: '', params: {} };
  return { from: 'svc', message: withMark({ id, ...change }, { read: 0, by: 'kim', kind }) };
};

describe('a mode that a person sets in a running session', () => {
  test('is wanted from the moment at which the agent has it, before and after its answer', () => {
    const asked = fold(opened, request(2, CHOSEN));
    expect(wanted(asked, setup, 'mode')).toBe('ask');
    const reported = fold(
      asked,
      update({ sessionUpdate: 'config_option_update', configOptions: [option('plan')] }),
    );
    const answered = fold(reported, fromAgent({ id: 2, result: { configOptions: [option('plan')] } }));
    for (const session of [asked, reported, answered]) {
      expect(isReady(session, setup, sent)).toBe(true);
      expect(startProblem(session, setup, sent)).toBeNull();
    }
    expect([reported, answered].map((session) => wanted(session, setup, 'mode'))).toEqual(['plan', 'plan']);
    expect(answered.chosen).toEqual({ mode: 'plan', model: null });
  });

  test.each([
    ['refused', { id: 2, error: { code: -32602, message: 'no' } }],
    ['not taken', { id: 2, result: { configOptions: [option('ask')] } }],
  ])('stays as it was when it is %s', (_, answer) => {
    const after = fold(opened, request(2, CHOSEN), fromAgent(answer));
    expect([after.mode, after.chosen.mode, wanted(after, setup, 'mode')]).toEqual(['ask', null, 'ask']);
  });

  test('is not what the agent changes by itself: it gets no further prompt in it', () => {
    const changed = fold(opened, update({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' }));
    expect(isReady(changed, setup, sent)).toBe(false);
    const bySvc = fold(
      opened,
      request(2, undefined),
      fromAgent({ id: 2, result: { configOptions: [option('plan')] } }),
    );
    expect(bySvc.chosen.mode).toBeNull();
  });

  test('is one that the agent offers', () => {
    expect(changeRequest(opened, 'mode', 'root')).toBeNull();
    expect(changeRequest(opened, 'model', 'large')).toBeNull();
    expect(changeRequest(newAgentSession, 'mode', 'ask')).toBeNull();
    const legacy = { ...opened, models: [{ id: 'large', name: 'Large' }] };
    expect(changeRequest(legacy, 'model', 'large')).toEqual({
      method: 'session/set_model',
      params: { sessionId: 's', modelId: 'large' },
    });
  });
});

test('commands are those of its newest list, each one word, with bounded texts', () => {
  const given = (availableCommands: unknown[]): AgentEntry =>
    update({ sessionUpdate: 'available_commands_update', availableCommands });
  const after = fold(
    opened,
    given([{ name: 'old', description: '', input: null }]),
    given([
      { name: '/status', description: 'show version info', input: { hint: '' } },
      { name: 'review', description: 'x'.repeat(10_000), input: { hint: 'number' } },
      { name: 'two words', description: '' },
      { name: 'line\nbreak', description: '' },
      { name: 'turned\u202e', description: '' },
      { description: 'no name' },
      'not a command',
    ]),
  );
  expect(after.commands).toEqual([
    { name: 'status', description: 'show version info', hint: null },
    { name: 'review', description: expect.stringMatching(/^x+…$/), hint: 'number' },
  ]);
  expect(
    fold(opened, given(Array.from({ length: 1_000 }, (_, at) => ({ name: `c${at}` })))).commands,
  ).toHaveLength(300);
});
