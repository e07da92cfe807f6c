import { expect, test } from 'vitest';
import { codexKeyVariable, judgeLogin, type LoginEvidence, noEvidence } from './login.ts';
import { foldAgent, newAgentSession } from './session.ts';

const opened = { needsLogin: false, sessionId: 's', login: null };
const report = (kind: 'none' | 'gateway' | 'other', words = kind as string) => ({
  ...opened,
  login: { kind, words },
});

test.each<[string, Partial<LoginEvidence>, Parameters<typeof judgeLogin>[1], string]>([
  ['not asked', {}, undefined, 'unknown'],
  ['not asked, with a key', { keys: ['KEY'] }, undefined, 'unknown'],
  ['not asked, with a file', { files: ['/home/auth.json'] }, undefined, 'unknown'],
  ['not asked, and its settings name a key that it does not get', { missingKey: 'KEY' }, undefined, 'no'],
  ['it reports nothing', {}, opened, 'unknown'],
  ['it reports nothing, with a file', { files: ['/home/auth.json'] }, opened, 'yes'],
  ['it opens no session without one, and did', { refuses: true }, opened, 'yes'],
  ['the same with another provider', { refuses: true, elsewhere: 'BASE_URL' }, opened, 'unknown'],
  ['it reports nothing, with a key', { keys: ['KEY'] }, opened, 'yes'],
  ['it ended before it opened a session', {}, { ...opened, sessionId: null }, 'unknown'],
  ['it refuses', {}, { ...opened, needsLogin: true }, 'no'],
  ['it refuses, whatever is there', { keys: ['KEY'], files: ['f'] }, { ...opened, needsLogin: true }, 'no'],
  ['it reports a login', {}, report('other', 'Claude Max'), 'yes'],
  ['it reports none', {}, report('none'), 'no'],
  ['it reports none, whatever file is left', { files: ['/home/auth.json'] }, report('none'), 'no'],
  ['it reports none, but gets a key', { keys: ['KEY'] }, report('none'), 'yes'],
  ['it reports none, but may get one', { elsewhere: 'settings.json' }, report('none'), 'unknown'],
  ['it reports none and opened nothing', {}, { ...report('none'), sessionId: null }, 'unknown'],
  ['a gateway', {}, report('gateway'), 'unknown'],
  ['a gateway without its key', { missingKey: 'KEY' }, report('gateway'), 'no'],
])('%s', (_, evidence, session, state) => {
  expect(judgeLogin({ ...noEvidence, ...evidence }, session)).toMatchObject({
    state,
    why: expect.stringMatching(/./),
  });
});

test('what an agent reports of its login, on its own', () => {
  const after = (authStatus: unknown) =>
    foldAgent(newAgentSession, {
      from: 'agent',
      message: { jsonrpc: '2.0', method: '_auth/status_update', params: { authStatus } },
    }).login;
  // As Claude and Codex have written it.
  expect(after({ kind: 'none', label: 'Not logged in' })).toEqual({ kind: 'none', words: 'Not logged in' });
  expect(after({ kind: 'api_key', label: 'Anthropic API key', detail: 'ANTHROPIC_API_KEY' })).toEqual({
    kind: 'other',
    words: 'Anthropic API key, ANTHROPIC_API_KEY',
  });
  expect(after({ kind: 'external', label: 'AWS Bedrock' })).toMatchObject({ kind: 'other' });
  expect(after({ kind: 'gateway', label: 'Custom model gateway', detail: 'fake' })).toMatchObject({
    kind: 'gateway',
  });
  for (const strange of [undefined, null, 7, {}, { kind: 7 }, []]) expect(after(strange)).toBeNull();
  expect(after({ kind: 'x', label: 'y'.repeat(100_000) })?.words.length).toBeLessThan(1_000);
});

const provider =
  '[model_providers.own]\nname = "own"\nenv_key = "OWN_KEY" # comment\nwire_api = "responses"\n';

test.each([
  [`model_provider = "own"\n${provider}`, 'OWN_KEY'],
  [`model = "m"\n  model_provider='own' # mine\r\n${provider}`, 'OWN_KEY'],
  [
    `model_provider = "own"\n${provider.replace('[model_providers.own]', '[model_providers."own"]')}`,
    'OWN_KEY',
  ],
  // The provider of the vendor needs a login instead.
  [provider, undefined],
  [`model_provider = "openai"\n${provider}`, undefined],
  [`model_provider = "own"\n[model_providers.own]\nname = "own"\n[other]\nenv_key = "OTHER"\n`, undefined],
  // A profile may choose another.
  [`profile = "work"\nmodel_provider = "own"\n${provider}`, undefined],
  [`[profiles.work]\nmodel_provider = "own"\n${provider}`, undefined],
  [`model_provider = "own"\n# ${provider.replaceAll('\n', '\n# ')}`, undefined],
  [`model_provider = "own"\n${provider}${provider}`, undefined],
  ['', undefined],
  ['\u0000[[[', undefined],
])('the variable with the key of the provider that Codex uses: %j', (toml, variable) => {
  expect(codexKeyVariable(toml)).toBe(variable);
});
