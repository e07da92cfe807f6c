// Runs end to end in one process, with real git and a scripted agent: names from outside, and a run from its start to
// its cancelation. Forty tickets with kills in between are `npm run chaos:orchestrate`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunView } from '@svc/core';
import { temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives, textIn, until } from '../src/orchestrate/agents/testing/scripted-agent.ts';
import { testRepository } from '../src/orchestrate/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

vi.setConfig({ testTimeout: 60_000 });

const AGENT = `printf '<%s>' "$@" >> "$HOME/agent-saw"
printf '%s' "$SVC_TICKET" > "$HOME/agent-ticket"
while :; do sleep 0.1; done
`;

async function world() {
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder, environment } = repository;
  const agent = join(home, 'agent.sh');
  writeFileSync(agent, AGENT);
  const config = {
    projectKey: 'demo',
    worktree: { setup: ['printf %s "${BRANCH_NAME}" > .seen; true ${BRANCH_NAME}'] },
    orchestration: { agent: ['/bin/sh', agent, '${TICKET_ID}', '${BRANCH_NAME}', '${PROMPT}'] },
  };
  repository.write(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  repository.write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: [folder] } }));
  const daemon = await startInProcess({ home, environment });
  const terminal = { ...testTerminal(), home, folder, environment };
  const svc = (...words: string[]) => runCommandLine({ ...terminal, environment: { ...environment } }, words);
  const everything = (): string[] =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const view = async (run: string) => (await daemon.get(`/api/runs/${run}`)).body as unknown as RunView;
  return { ...repository, root, daemon, terminal, svc, everything, view };
}

const hostile = [
  '"; touch canary; "',
  "'; touch canary; '",
  '$(touch canary)',
  '`touch canary`',
  'a b',
  'a\nb',
  '..',
  '../../escape',
  '/etc/x',
  '-rf',
  '--upload-pack=touch canary',
  'x'.repeat(201),
  '\u202eabc',
  '',
];

test('hostile names: refused everywhere, no command runs, nothing is written', async () => {
  const { svc, home, everything, daemon, base, branches } = await world();
  const plan = join(home, 'plan.json');
  for (const name of hostile) {
    expect(await svc('orchestrate', 'start', '--', name), name).not.toBe(0);
    expect(await svc('orchestrate', 'start', 'ABC-1', `--name=${name}`), name).not.toBe(0);
    expect(await svc('orchestrate', 'start', 'ABC-1', `--base=${name}`), name).not.toBe(0);
    expect(await svc('orchestrate', 'start', `--wave=${name}`), name).not.toBe(0);
    expect(await svc('worktree', 'create', '--', name), name).not.toBe(0);
    writeFileSync(plan, JSON.stringify({ waves: [['ABC-1', name]] }));
    expect(await svc('orchestrate', 'start', '--file', plan), name).not.toBe(0);
    writeFileSync(plan, JSON.stringify({ tickets: [{ ticket: 'ABC-1', blockedBy: [name] }] }));
    expect(await svc('orchestrate', 'start', '--file', plan), name).not.toBe(0);
    for (const word of ['cancel', 'retry', 'pause', 'resume', 'status'])
      expect(await svc('orchestrate', word, '--', name, 'ABC-1'), name).not.toBe(0);
  }
  expect(daemon.lines().filter(({ event }) => event.startsWith('orchestrator.'))).toEqual([]);
  expect(everything().filter((path) => /canary|escape/.test(path))).toEqual([]);
  expect(readdirSync(base).filter((name) => !name.startsWith('.'))).toEqual([]);
  expect(existsSync(join(home, 'agent-saw'))).toBe(false);
  expect(branches()).toEqual(['main']);
});

test('names that git allows are values: as a base, a worktree and a ticket of 120 characters', async () => {
  const { svc, git, folder, home, everything, view, base, terminal } = await world();
  const nasty = '$(touch${IFS}canary);`touch${IFS}canary`\'"&|';
  git(folder, 'branch', '--', nasty);
  expect(await svc('worktree', 'create', '--', nasty), terminal.complained()).toBe(0);
  const made = readdirSync(base).filter((name) => !name.startsWith('.'));
  expect(made.map((name) => readFileSync(join(base, name, '.seen'), 'utf8'))).toEqual([nasty]);
  expect(await svc('worktree', 'remove', '--force', '--', nasty), terminal.complained()).toBe(0);
  const ticket = `A-${'x'.repeat(118)}`;
  const started = await svc('orchestrate', 'start', ticket, '--name', 'run-1', `--base=${nasty}`);
  expect(started, terminal.complained()).toBe(0);
  await textIn(join(home, 'agent-ticket'));
  expect(readFileSync(join(home, 'agent-ticket'), 'utf8')).toBe(ticket);
  expect(readFileSync(join(home, 'agent-saw'), 'utf8')).toBe(
    `<${ticket}><${ticket}></svc-dev:oneshot ${ticket}>`,
  );
  expect(readFileSync(join(base, ticket, '.seen'), 'utf8')).toBe(ticket);
  expect(everything().filter((path) => path.endsWith('/canary'))).toEqual([]);

  const pidFile = join(home, 'svc/runs/run-1/workers/pids', `${ticket}.1.pid`);
  const pid = Number(await textIn(pidFile));
  expect(lives(pid)).toBe(true);
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => (lives(pid) ? undefined : true), 20_000);
  expect(await view('run-1')).toMatchObject({ state: 'canceled' });
});

test('a status stands in the signal file of each worker, from its start to its cancelation', async () => {
  const { svc, home, terminal } = await world();
  const statuses = (): string[] =>
    ['A-1', 'A-2'].flatMap((ticket) => {
      const file = join(home, 'svc/runs/run-1/workers', `${ticket}.json`);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { status: string }).status : [];
    });
  expect(await svc('orchestrate', 'start', 'A-1', 'A-2', '--name', 'run-1'), terminal.complained()).toBe(0);
  await until(() => (statuses().join() === 'dispatched,dispatched' ? true : undefined), 20_000);
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => (statuses().join() === 'canceled,canceled' ? true : undefined), 20_000);
});

test('a run whose project cannot be read is in health, with the remedy', async () => {
  const { daemon, folder, write } = await world();
  const { body: before } = await daemon.get('/api/health');
  expect(before).toMatchObject({ runs: { state: 'live', agents: 0 } });
  const project = join(folder, 'broken');
  write(project, '.svc/config.json', '{ "svc": ');
  const detail = {
    plan: [['ABC-1']],
    maxParallel: 1,
    project,
    base: 'main',
    workerCommand: '/a:b',
    workerModel: 'opus',
  };
  const told = { event: 'orchestrator.run.started', scope: { orchestrator: 'run-1' }, detail };
  await daemon.post('/api/events', JSON.stringify(told), { 'Content-Type': 'application/json' });
  await expect
    .poll(async () => (await daemon.get('/api/health')).body, { timeout: 10_000 })
    .toMatchObject({
      status: 'degraded',
      runs: { state: 'degraded', remedy: expect.stringContaining('svc config validate') },
    });
});
