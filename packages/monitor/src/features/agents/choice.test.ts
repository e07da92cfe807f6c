import { expect, test } from 'vitest';
import { Config } from '../config.ts';
import { resolveConfig } from '../configure.ts';
import { optionKinds } from '../workers/agent-fields.ts';
import { chooseAgent, knownAgents, policyAnswer } from './choice.ts';
import type { OpenRequest } from './requests.ts';

const settings = (orchestration: object = {}) => Config.parse({ svc: { orchestration } }).svc.orchestration;

const choose = (
  plan: { agent?: string; agents?: Record<string, string> },
  { orchestration = {}, installed = ['claude-agent-acp', 'codex-acp'] } = {},
) =>
  chooseAgent(settings(orchestration), { workerModel: 'opus', ...plan }, 'A-1', async ({ command }) =>
    installed.includes(command) ? `/bin/${command}` : null,
  );

test('the agent of the ticket comes before the one of the run, and both before the command line', async () => {
  expect(await choose({ agent: 'claude', agents: { 'A-1': 'codex' } })).toMatchObject({ name: 'codex' });
  expect(await choose({ agent: 'codex', agents: { 'A-2': 'claude' } })).toEqual({
    name: 'codex',
    protocol: true,
    argv: ['/bin/codex-acp'],
    env: {},
    mode: 'read-only',
    model: null,
    commands: false,
  });
  // Only named by the command line, so the run's model is used.
  expect(await choose({})).toMatchObject({
    name: 'claude',
    protocol: true,
    mode: 'default',
    model: 'opus',
    commands: true,
  });
  const template = { orchestration: { agent: ['/opt/bin/codex', 'exec', '${PROMPT}'] } };
  expect(await choose({}, template)).toMatchObject({ name: 'codex', argv: ['/bin/codex-acp'] });
});

test('without its protocol program the command line is used, with the reason', async () => {
  expect(await choose({}, { installed: [] })).toEqual({
    name: 'claude',
    protocol: false,
    reason: 'claude-agent-acp is not installed',
    commands: true,
  });
  expect(await choose({}, { orchestration: { agent: ['/bin/sh', '-c', 'x'] } })).toEqual({
    name: 'sh',
    protocol: false,
    reason: 'svc.orchestration.agent runs "sh", which is not a known agent',
    commands: null,
  });
});

test('an agent that was chosen is never replaced by another', async () => {
  expect(await choose({ agent: 'gemini' })).toEqual({
    problem: "The agent gemini is not installed: gemini was not found in the daemon's PATH.",
    remedy:
      'Run: npm install --global @google/gemini-cli@0.61.0. If gemini is in your own PATH, the daemon was started without it: svc monitor restart',
  });
  expect(await choose({ agents: { 'A-1': 'constructor' } })).toMatchObject({
    problem: 'There is no agent "constructor".',
  });
  const agents = { mine: { command: '/opt/mine' } };
  const own = await choose({ agent: 'mine' }, { orchestration: { agents } });
  expect(own).toMatchObject({ remedy: expect.stringContaining('svc.orchestration.agents.mine.command') });
});

test('a configured field replaces the one of a built-in agent, and variables are added', () => {
  const agents = {
    opencode: { env: { LEVEL: '1' }, model: 'fast' },
    claude: { command: '/opt/claude-agent-acp', mode: null },
  };
  const known = new Map(knownAgents(settings({ agents })).map((agent) => [agent.name, agent]));
  expect(known.get('opencode')).toMatchObject({
    command: 'opencode',
    args: ['acp'],
    mode: 'build',
    model: 'fast',
    env: { LEVEL: '1', OPENCODE_PERMISSION: expect.stringContaining('"bash":"ask"') },
  });
  // The package would install another program than the configured one.
  expect(known.get('claude')).toMatchObject({ command: '/opt/claude-agent-acp', mode: null, install: null });
  expect([...known.keys()]).toEqual(['claude', 'codex', 'gemini', 'opencode', 'qwen', 'copilot']);
});

function fileOf(layer: 'project' | 'global', orchestration: object) {
  const path = `/conf/${layer}.json`;
  return { path, layers: [layer], reads: [layer], data: { svc: { orchestration } }, lineOf: () => 3 };
}

test("the user's file comes before the project's", () => {
  const { config } = resolveConfig(
    [
      fileOf('project', { agents: { codex: { mode: 'agent-full-access', model: 'fast' } } }),
      fileOf('global', { agents: { codex: { mode: 'read-only' } } }),
    ],
    {},
  );
  expect(config?.svc.orchestration.agents['codex']).toEqual({ mode: 'read-only', model: 'fast' });
});

test.each([
  [{ agents: { codex: { env: { OPENAI_API_KEY: 'x' } } } }, /svc\.orchestration\.agentEnv/],
  [{ agents: { codex: { env: { KEY: `sk-${'a'.repeat(30)}` } } } }, /svc\.orchestration\.agentEnv/],
  [{ agents: { codex: { env: { SVC_TICKET: 'A-1' } } } }, /an object of variables/],
  [{ agents: { codex: { command: 'bin/codex' } } }, /a program on the PATH or its absolute path/],
  [{ agents: { mine: { mode: 'default' } } }, /the agent has no command/],
  [{ agents: { Mine: { command: 'mine' } } }, /not a valid name/],
])('a project file that is refused: %j', (orchestration, message) => {
  const { config, problems } = resolveConfig([fileOf('project', orchestration)], {});
  expect(config).toBeUndefined();
  expect(problems.map((problem) => `${problem.message} ${problem.remedy ?? ''}`).join('\n')).toMatch(message);
});

test("a project's file has no say in what an agent may do", () => {
  const allowed = { permissions: { execute: 'allow' } };
  const { usable, problems } = resolveConfig([fileOf('project', allowed)], {});
  expect(usable.svc.orchestration.permissions.execute).toBe('ask');
  expect(problems).toMatchObject([
    {
      code: 'wrong-file',
      key: 'svc.orchestration.permissions.execute',
      message: expect.stringContaining('global file'),
    },
  ]);
  const own = resolveConfig([fileOf('global', allowed)], {});
  expect(own.config?.svc.orchestration.permissions).toMatchObject({ execute: 'allow', edit: 'ask' });
});

const request = (fields: Partial<OpenRequest> = {}): OpenRequest => ({
  request: '1',
  number: 0,
  kind: 'permission',
  title: 'touch made',
  tool: 'tool-1',
  toolKind: 'execute',
  paths: [],
  command: null,
  options: optionKinds.map((kind) => ({ id: kind, kind, name: kind })),
  fields: [],
  ...fields,
});

test('the policy answers once, by the kind of the tool, and only what the agent offers', () => {
  const { permissions } = settings({ permissions: { execute: 'allow', fetch: 'reject', other: 'allow' } });
  expect(policyAnswer(permissions, request())).toBe('allow_once');
  expect(policyAnswer(permissions, request({ toolKind: 'fetch' }))).toBe('reject_once');
  for (const asked of [
    request({ toolKind: 'edit' }),
    request({ toolKind: 'constructor' }),
    request({ toolKind: null }),
    request({ kind: 'input' }),
    request({ options: [{ id: 'a', kind: 'allow_always', name: 'Always' }] }),
    request({ toolKind: 'fetch', options: [{ id: 'a', kind: 'reject_always', name: 'Never' }] }),
  ])
    expect(policyAnswer(permissions, asked)).toBeNull();
  expect(policyAnswer(settings().permissions, request())).toBeNull();
});
