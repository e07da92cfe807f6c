import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { knownAgents } from './choice.ts';
import { findLoginEvidence } from './io/login-evidence.ts';
import { judgeLogin } from './login.ts';

const opened = { needsLogin: false, sessionId: 'session-1', login: null };

test.each<[string, string, Record<string, string>, string]>([
  ['gemini that opened a session has a login', 'gemini', {}, 'yes'],
  [
    'gemini with a gateway may have none',
    'gemini',
    { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1' },
    'unknown',
  ],
  [
    'gemini with a gateway and a key has one',
    'gemini',
    { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1', GEMINI_API_KEY: 'key' },
    'yes',
  ],
  [
    'copilot with another provider may have none',
    'copilot',
    { COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1' },
    'unknown',
  ],
])('%s', async (_, name, environment, state) => {
  const agent = knownAgents({ agents: {} }).find((one) => one.name === name);
  if (agent === undefined) throw new Error(`There is no agent ${name}`);
  const place = { environment, inherited: {}, home: temporaryFolder(), folder: undefined };
  expect(judgeLogin(await findLoginEvidence(agent, place), opened)).toMatchObject({ state });
});
