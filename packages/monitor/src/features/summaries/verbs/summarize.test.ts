// svc summarize and svc briefing, against the real routes and a local model server.
import { join } from 'node:path';
import { boardWithRun, modelsForTest, sampleTime, testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { claimInstance } from '../../../kernel/instance/instance.ts';
import { CANARY, type SummaryServerOptions, startSummaryServer } from '../testing/summary-server.ts';

async function machine(options: Partial<SummaryServerOptions> = {}) {
  const now = sampleTime('12:05');
  const terminal = testTerminal({ now });
  const identity = (port: number) => ({
    instance: '00000000-0000-4000-8000-000000000001',
    pid: process.pid,
    port,
    url: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    startedAt: now,
  });
  const models = await modelsForTest(CANARY);
  const { port } = await startSummaryServer({ models, board: boardWithRun(), ...options, identity });
  const instance = claimInstance(join(terminal.home, 'svc'));
  onTestFinished(() => instance?.withdraw());
  await instance?.announce({ state: 'running', ...identity(port) });
  return { terminal, models, svc: (...words: string[]) => runCommandLine(terminal, words) };
}

test('a summary as text; the text of a model cannot control the terminal', async () => {
  const { terminal, models, svc } = await machine();
  models.says('All is well.\n\u001b[2JNothing waits.');
  expect(await svc('summarize', 'run-1')).toBe(0);
  const [first, second, figures] = terminal.printed().split('\n');
  expect([first, second]).toEqual(['All is well.', '?[2JNothing waits.']);
  expect(figures).toMatch(
    /^provider-a, claude-sonnet-5, 1100 tokens, cost under \$0\.01, 2026-01-02 12:00:\d\d UTC/,
  );
});

test('the cost of a model without a price is unknown', async () => {
  const { terminal, svc } = await machine();
  expect(await svc('summarize', 'run-1', '--model', 'claude-next')).toBe(0);
  expect(terminal.printed()).toContain('claude-next, 1100 tokens, cost unknown, ');
});

test('template, provider and model are passed on; JSON is the answer of the route', async () => {
  const { terminal, svc } = await machine();
  const words = ['--template', 'worker-status', '--provider', 'openai', '--model', 'gpt-5.5', '--json'];
  expect(await svc('summarize', 'run-1', ...words)).toBe(0);
  expect(JSON.parse(terminal.printed())).toMatchObject({
    provider: 'provider-b',
    model: 'gpt-5.5',
    cached: false,
  });
});

test.each([
  ['an unknown run', ['summarize', 'nobody'], {}, 1, 'There is no run nobody.'],
  ['an unknown template', ['summarize', 'run-1', '--template', 'poem'], {}, 2, 'template: expected one of'],
  ['AI off', ['summarize', 'run-1'], { ai: { enabled: false } }, 4, 'svc config set svc.ai.enabled true'],
  ['no briefing yet', ['briefing'], { briefing: {} }, 1, 'svc briefing --fresh'],
  ['a disabled briefing', ['briefing', '--fresh'], {}, 1, 'The briefing is disabled'],
])('%s', async (_, words, options, code, message) => {
  const { terminal, svc } = await machine(options);
  expect(await svc(...words)).toBe(code);
  expect(terminal.complained()).toContain(message);
});

test('a fresh briefing, with labels', async () => {
  const { terminal, models, svc } = await machine({ briefing: {} });
  models.says('All is well.\nLABELS\nENG-1: key login');
  expect(await svc('briefing', '--fresh')).toBe(0);
  expect(terminal.printed().split('\n').slice(0, 2)).toEqual(['All is well.', '  ENG-1  key login']);
});
