// Runs end to end in one process, with real git and a scripted agent: external names, and a run from its start to
// its cancelation. Forty tickets with kills in between are `npm run chaos:orchestrate`.
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPid } from '@svc/lib/pid';
import { temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives, textIn } from '../src/features/agents/testing/scripted-agent.ts';
import { changesVerb } from '../src/features/agents/verbs/agent-changes.ts';
import type { RunView } from '../src/features/runs/api.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const AGENT = `printf '<%s>' "$@" >> "$HOME/agent-saw"
printf '%s' "$OTEL_RESOURCE_ATTRIBUTES" > "$HOME/agent-telemetry"
printf '%s' "$SVC_TICKET" > "$HOME/agent-ticket"
exec sleep 600
`;

async function world(orchestration: object = {}) {
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder, environment } = repository;
  const agent = join(home, 'agent.sh');
  writeFileSync(agent, AGENT);
  const config = {
    projectKey: 'demo',
    worktree: { setup: ['printf %s "${BRANCH_NAME}" > .seen; true ${BRANCH_NAME}'] },
    orchestration: {
      agent: ['/bin/sh', agent, '${TICKET_ID}', '${BRANCH_NAME}', '${PROMPT}', '${MODEL}'],
      ...orchestration,
    },
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
  expect(existsSync(base)).toBe(false);
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
    `<${ticket}><${ticket}></svc-dev:oneshot ${ticket}><opus>`,
  );
  expect(readFileSync(join(base, ticket, '.seen'), 'utf8')).toBe(ticket);
  expect(everything().filter((path) => path.endsWith('/canary'))).toEqual([]);

  const pidFile = join(home, 'svc/runs/run-1/workers/pids', `${ticket}.1.pid`);
  const pid = needPid(await textIn(pidFile));
  expect(lives(pid)).toBe(true);
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => !lives(pid));
  expect(await view('run-1')).toMatchObject({ state: 'canceled' });
});

test.each([
  ['of the defaults', {}, '/svc-dev:oneshot A-1', 'opus'],
  ['of the project', { workerCommand: '/mine:skill', workerModel: 'haiku' }, '/mine:skill A-1', 'haiku'],
])('an agent gets the worker command and the model %s', async (_, orchestration, prompt, model) => {
  const { svc, home, terminal } = await world(orchestration);
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1'), terminal.complained()).toBe(0);
  await textIn(join(home, 'agent-ticket'));
  expect(readFileSync(join(home, 'agent-saw'), 'utf8')).toBe(`<A-1><A-1><${prompt}><${model}>`);
  const pid = needPid(await textIn(join(home, 'svc/runs/run-1/workers/pids/A-1.1.pid')));
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => !lives(pid));
});

test('a status is in the signal file of each worker, from its start to its cancelation', async () => {
  const { svc, home, terminal } = await world();
  const statuses = (): string[] =>
    ['A-1', 'A-2'].flatMap((ticket) => {
      const file = join(home, 'svc/runs/run-1/workers', `${ticket}.json`);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { status: string }).status : [];
    });
  expect(await svc('orchestrate', 'start', 'A-1', 'A-2', '--name', 'run-1'), terminal.complained()).toBe(0);
  await until(() => statuses().join() === 'dispatched,dispatched');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => statuses().join() === 'canceled,canceled');
});

test('the run is named in the context of a worker’s worktree and in the telemetry of its agent', async () => {
  const { svc, home, base, terminal } = await world();
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1'), terminal.complained()).toBe(0);
  await textIn(join(home, 'agent-ticket'));
  expect(JSON.parse(readFileSync(join(base, 'A-1/.svc/.workflow-context.json'), 'utf8'))).toMatchObject({
    currentTicket: 'A-1',
    orchestration: 'run-1',
  });
  expect(readFileSync(join(home, 'agent-telemetry'), 'utf8').split(',')).toContain('svc.orchestration=run-1');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
});

const json = { 'Content-Type': 'application/json' };

test('no program of an unregistered folder is started, by any route', async () => {
  const { daemon, home, root, write } = await world();
  const { folder } = testRepository(join(root, 'foreign'));
  const canary = join(root, 'canary');
  const agent = ['/bin/sh', '-c', `touch '${canary}'`];
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'x', orchestration: { agent } } }));
  const begin = { project: folder, tickets: ['ABC-1'], name: 'run-1' };
  const refused = await daemon.post('/api/runs', JSON.stringify(begin), json);
  expect(refused).toMatchObject({ status: 404, body: { code: 'unknown-project' } });
  const detail = {
    plan: [['ABC-1']],
    maxParallel: 1,
    project: folder,
    base: 'main',
    workerCommand: '/a:b',
    workerModel: 'opus',
  };
  const scope = { orchestrator: 'run-1', ticket: 'ABC-1' };
  const source = { source: 'cli', via: 'local' };
  const facts = [
    { event: 'orchestrator.run.started', scope, detail, ...source },
    { event: 'orchestrator.worker.retried', scope, detail: { by: 'kim' }, ...source },
    { event: 'orchestrator.deploy.accepted', scope, detail: { by: 'kim' }, ...source },
    { event: 'orchestrator.deploy.retried', scope, detail: { by: 'kim' }, ...source },
  ];
  for (const fact of facts)
    expect(await daemon.post('/api/events', JSON.stringify(fact), json)).toMatchObject({
      status: 400,
      body: { code: 'usage', remedy: expect.stringContaining('svc ') },
    });
  for (const [index, fact] of facts.entries()) {
    write(home, `svc/spool/.${index}`, JSON.stringify(fact));
    renameSync(join(home, 'svc/spool', `.${index}`), join(home, 'svc/spool', `${index}.json`));
  }
  await expect
    .poll(async () => (await daemon.get('/api/health')).body)
    .toMatchObject({ spool: { rejected: facts.length } });
  expect((await daemon.get('/api/runs')).body).toEqual({ runs: [] });
  expect(daemon.lines()).toEqual([]);
  expect(existsSync(canary)).toBe(false);
});

test('in a fresh project the CLI registers it and starts the run', async () => {
  const { daemon, terminal, environment, root, home } = await world();
  const { folder, write } = testRepository(join(root, 'fresh'));
  const agent = ['/bin/sh', '-c', 'exit 0', '${PROMPT}'];
  const config = { projectKey: 'fresh', orchestration: { agent } };
  write(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  const words = ['orchestrate', 'start', 'NEW-1', '--name', 'fresh-1', '--max-parallel', '1'];
  const started = runCommandLine({ ...terminal, folder, environment: { ...environment } }, words);
  expect(await started, terminal.complained()).toBe(0);
  expect((await daemon.get('/api/runs/fresh-1')).body).toMatchObject({ project: folder });
  const global: unknown = JSON.parse(readFileSync(join(home, '.config/svc/config.json'), 'utf8'));
  expect(global).toMatchObject({ svc: { projects: expect.arrayContaining([folder]) } });
  await daemon.post('/api/runs/fresh-1/cancel', '{}', json);
});

test('neither git, setup nor agent sees the webhook secret of any project, even if its project asks', async () => {
  const root = temporaryFolder();
  const { home, folder, environment, write } = testRepository(root);
  const shows = (name: string): string =>
    `env > '${join(root, name)}.part'; mv '${join(root, name)}.part' '${join(root, name)}'`;
  write(folder, '.git/hooks/post-checkout', `#!/bin/sh\n${shows('hook')}\n`);
  chmodSync(join(folder, '.git/hooks/post-checkout'), 0o755);
  const orchestration = {
    agent: ['/bin/sh', '-c', `${shows('agent')}; sleep 60`, '${PROMPT}'],
    agentEnv: ['OTHER_HOOK_SECRET', 'MINE'],
  };
  const config = { projectKey: 'demo', worktree: { setup: [shows('setup')] }, orchestration };
  write(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  const other = { monitor: { github: { webhookSecretEnv: 'OTHER_HOOK_SECRET' } } };
  write(join(root, 'other'), '.svc/config.json', JSON.stringify({ svc: other }));
  const projects = [folder, join(root, 'other')];
  write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects } }));
  const given = { ...environment, MINE: 'yes', OTHER_HOOK_SECRET: 'hush-1', SVC_WEBHOOK_SECRET: 'hush-2' };
  const daemon = await startInProcess({ home, environment: given });
  const begin = { project: folder, tickets: ['ABC-1'], name: 'run-1' };
  expect((await daemon.post('/api/runs', JSON.stringify(begin), json)).status).toBe(200);
  for (const name of ['setup', 'agent']) {
    const seen = await textIn(join(root, name));
    expect(seen, name).toContain('MINE=yes');
    expect(seen, name).not.toContain('hush');
  }
  const pid = needPid(await textIn(join(home, 'svc/runs/run-1/workers/pids', 'ABC-1.1.pid')));
  await daemon.post('/api/runs/run-1/cancel', '{}', json);
  await until(() => !lives(pid));
});

test('a run whose project cannot be read continues with the last valid configuration, and is in health if there was none', async () => {
  const { daemon: first, svc, folder, home, environment, write, terminal } = await world();
  const { body: before } = await first.get('/api/health');
  expect(before).toMatchObject({ runs: { state: 'live', agents: 0 } });
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1'), terminal.complained()).toBe(0);
  expect(await svc('orchestrate', 'pause', 'run-1')).toBe(0);
  await first.close();
  // The next daemon knows the run from the log.
  write(folder, '.svc/config.json', '{ "svc": ');
  const second = await startInProcess({ home, environment });
  await expect
    .poll(async () => (await second.get('/api/health')).body)
    .toMatchObject({ status: 'degraded', runs: { state: 'live' } });
  await second.close();
  rmSync(join(home, 'svc/last-good-config.json'));
  const daemon = await startInProcess({ home, environment });
  await expect
    .poll(async () => (await daemon.get('/api/health')).body)
    .toMatchObject({
      status: 'degraded',
      runs: { state: 'degraded', remedy: expect.stringContaining('svc config validate') },
    });
});

test('the changes in the worktree of a ticket, over the API and on the command line', async () => {
  const { svc, base, terminal, daemon, write, environment, folder } = await world();
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1'), terminal.complained()).toBe(0);
  const path = join(base, 'A-1');
  await expect.poll(async () => (await daemon.get('/api/workers/a-1/changes')).status).toBe(200);
  write(path, 'README.md', 'two\u001b[31m\n');
  const { status, body } = await daemon.get('/api/workers/a-1/changes');
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { ticket: 'A-1', orchestrator: 'run-1', worktree: path, base: 'main', cut: false },
  });
  expect(body['files']).toMatchObject([
    { path: '.seen', status: 'untracked' },
    { path: 'README.md', status: 'modified', added: 1, removed: 1 },
  ]);
  const shown = { ...testTerminal(), home: terminal.home, folder, environment };
  await changesVerb(shown).parseAsync(['A-1'], { from: 'user' });
  expect(shown.printed()).toMatch(
    /^2 changed files in .*\/A-1 since main \(\w{12}\)\n  untracked  \+1 -0  \.seen\n  modified   \+1 -1  README\.md\n/,
  );
  expect(shown.printed()).toContain('\n-one\n+two?[31m');
  expect((await daemon.get('/api/workers/A-2/changes')).body).toMatchObject({ code: 'unknown-ticket' });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
});
