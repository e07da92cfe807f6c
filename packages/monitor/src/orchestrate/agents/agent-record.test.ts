import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { makeRecord } from './agent-record.ts';

test.each([
  ['claude', '/opt/bin/claude-agent-acp', '/svc-dev:oneshot A-1'],
  // It drops a prompt that starts with a command that it does not have.
  ['opencode', '/opt/bin/opencode', 'Run /svc-dev:oneshot A-1'],
])('%s gets a first prompt that it acts on', async (name, program, prompt) => {
  const runsDir = temporaryFolder();
  const { setup } = await makeRecord({
    runsDir,
    agent: { orchestrator: 'run-1', ticket: 'A-1', attempt: 1 },
    chosen: { name, protocol: true, argv: [program], env: {}, mode: null, model: null },
    cwd: runsDir,
    inbox: join(runsDir, 'inbox.jsonl'),
    plan: { workerCommand: '/svc-dev:oneshot' },
    previous: null,
  });
  expect(setup?.prompt).toBe(prompt);
});
