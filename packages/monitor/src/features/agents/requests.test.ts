// A person sees everything that they allow, or cannot allow it.
import { expect, test } from 'vitest';
import type { AgentRequest } from '../workers/agent-fields.ts';
import { shownRequest } from './requests.ts';
import { type AgentEntry, foldAgent, newAgentSession } from './session.ts';

const edit = { kind: 'edit', locations: [{ path: '/work/a.txt' }] };
const diff = (newText: string, path = '/work/a.txt') => ({ type: 'diff', path, oldText: 'two', newText });
const asked = (toolCall: object): AgentRequest => {
  const options = ['allow_once', 'reject_once'].map((kind) => ({ optionId: kind, name: kind, kind }));
  const params = { options, toolCall: { toolCallId: 't', title: 'Work', ...toolCall } };
  const entries: AgentEntry[] = [
    { from: 'svc', message: { id: 0, method: 'session/new', params: { cwd: '/work' } } },
    { from: 'agent', message: { id: 1, method: 'session/request_permission', params } },
  ];
  const [open] = entries.reduce(foldAgent, newAgentSession).open;
  if (open === undefined) throw new Error('nothing is open');
  return shownRequest(open);
};
const many = Array.from({ length: 21 }, (_, index) => `/work/${index}`);

test.each<[string, object, string | null]>([
  [
    'arguments beside the command',
    { rawInput: { command: 'sh', args: ['-c', 'x | y'] } },
    'sh\n{"args":["-c","x | y"]}',
  ],
  ['a script', { rawInput: { script: 'x | y' } }, '{"script":"x | y"}'],
  [
    'an address',
    { kind: 'fetch', rawInput: { url: 'https://a.example', post: { a: 1 } } },
    '{"url":"https://a.example","post":{"a":1}}',
  ],
  ['an input that is no object', { rawInput: ['rm', '-rf'] }, '["rm","-rf"]'],
  ['a command that is no text', { rawInput: { command: { run: 'x' } } }, '{"run":"x"}'],
  ['another folder', { rawInput: { command: 'make', cwd: '/etc' } }, 'make\n{"cwd":"/etc"}'],
  ['its own folder', { rawInput: { command: 'make', cwd: '/work', description: 'Build' } }, 'make'],
  ['the paths that are shown', { ...edit, rawInput: { path: '/work/a.txt', paths: ['/work/a.txt'] } }, null],
  [
    'the change that its diff shows',
    { ...edit, content: [diff('TWO')], rawInput: { old_string: 'two', new_string: 'x'.repeat(5_000) } },
    null,
  ],
  ['a change without a diff', { ...edit, rawInput: { diff: '+TWO' } }, '{"diff":"+TWO"}'],
  [
    'what is not about the change',
    { ...edit, content: [diff('TWO')], rawInput: { new_string: 'TWO', run: 'x | y' } },
    '{"run":"x | y"}',
  ],
])('what is shown of %s', (_, toolCall, command) => {
  const request = asked(toolCall);
  expect(request.command).toBe(command);
  expect(request.cut).toBeUndefined();
  expect(request.options).toHaveLength(2);
});

test.each<[string, object]>([
  ['arguments', { rawInput: { command: 'sh', args: ['-c', 'x'.repeat(4_001)] } }],
  ['a title', { title: 'x'.repeat(4_001) }],
  ['more paths than are shown', { locations: many.map((path) => ({ path })) }],
  ['more diffs than are shown', { ...edit, content: many.map((path) => diff('TWO', path)) }],
  ['a diff that is too long', { ...edit, content: [diff('x'.repeat(256 * 1024 + 1))] }],
  ['a change without a diff', { ...edit, rawInput: { new_string: 'x'.repeat(4_001) } }],
])('%s too long: it can only be rejected', (_, toolCall) => {
  expect(asked(toolCall)).toMatchObject({ cut: true, options: [{ kind: 'reject_once' }] });
});

test('what was too long is shown once it is described in full', () => {
  const request = (toolCall: object): AgentEntry => ({
    from: 'agent',
    message: {
      id: 1,
      method: 'session/request_permission',
      params: { options: [], toolCall: { toolCallId: 't', ...toolCall } },
    },
  });
  const update: AgentEntry = {
    from: 'agent',
    message: {
      method: 'session/update',
      params: { update: { sessionUpdate: 'tool_call_update', toolCallId: 't', rawInput: { script: 'x' } } },
    },
  };
  const entries = [request({ ...edit, rawInput: { script: 'x'.repeat(4_001) } }), update];
  const cuts = entries.map((_, index) => {
    const [open] = entries.slice(0, index + 1).reduce(foldAgent, newAgentSession).open;
    return open?.cut;
  });
  expect(cuts).toEqual([true, undefined]);
});
