// svc orchestrate, against the real routes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { claimInstance } from '../../../kernel/instance/instance.ts';
import type { EventFields } from '../../../kernel/log/event-line.ts';
import { startRunServer } from '../testing/run-server.ts';
import { ownLine, RUN, runWorld } from '../testing/run-world.ts';

const now = '2026-01-02T03:10:00.000Z';

/** A machine with a project, and a daemon that has this board. */
async function machine() {
  const world = runWorld();
  const terminal = testTerminal({ now, environment: { USER: 'kim' } });
  mkdirSync(join(terminal.home, '.svc'));
  writeFileSync(join(terminal.home, '.svc', 'config.json'), JSON.stringify({ svc: { projectKey: 'web' } }));
  const identity = (port: number) => ({
    instance: '00000000-0000-4000-8000-000000000001',
    pid: process.pid,
    port,
    url: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    startedAt: now,
  });
  const { port, holds } = await startRunServer(world, { identity, served: [terminal.home] });
  const instance = claimInstance(join(terminal.home, 'svc'));
  onTestFinished(() => instance?.withdraw());
  await instance?.announce({ state: 'running', ...identity(port) });
  const svc = (...words: string[]) => runCommandLine(terminal, ['orchestrate', ...words]);
  const lines = (): string[] =>
    terminal
      .printed()
      .split('\n')
      .filter((line) => line !== '');
  return { world, terminal, holds, svc, lines };
}

test('start: tickets, waves or a plan, with all options', async () => {
  const { world, terminal, svc, lines } = await machine();
  expect(await svc('start', 'ABC-1', 'ABC-2', '--max-parallel', '2', '--name', RUN)).toBe(0);
  expect(lines()).toEqual([
    `Started ${RUN}: 2 tickets in 1 wave.`,
    `Follow it: svc orchestrate status ${RUN}`,
  ]);
  expect(
    await svc('start', '--wave', 'ABC-3,ABC-4', '--wave', 'ABC-5', '--name', 'two', '--base', 'next'),
  ).toBe(0);
  const plan = join(terminal.home, 'plan.json');
  writeFileSync(plan, '{"tickets":[{"ticket":"ABC-7","blockedBy":["ABC-6"]},{"ticket":"ABC-6"}]}');
  expect(await svc('start', '--file', plan, '--name', 'three')).toBe(0);
  expect(
    world.appended.map(({ detail }: EventFields) => [detail['plan'], detail['maxParallel'], detail['base']]),
  ).toEqual([
    [[['ABC-1', 'ABC-2']], 2, 'main'],
    [[['ABC-3', 'ABC-4'], ['ABC-5']], 3, 'next'],
    [[['ABC-6'], ['ABC-7']], 3, 'main'],
  ]);
  expect(world.appended[0]?.detail).toMatchObject({ by: 'kim', project: terminal.home });
});

test('start: an agent for the run, and another one for a ticket', async () => {
  const { world, svc } = await machine();
  const agents = ['--agent', 'codex', '--agent', 'ABC-2=claude'];
  expect(await svc('start', 'ABC-1', 'ABC-2', ...agents)).toBe(0);
  expect(world.appended[0]?.detail).toMatchObject({ agent: 'codex', agents: { 'ABC-2': 'claude' } });
});

test('start: one ticket is singular', async () => {
  const { svc, lines } = await machine();
  expect(await svc('start', 'ABC-1', '--name', RUN)).toBe(0);
  expect(lines()[0]).toBe(`Started ${RUN}: 1 ticket in 1 wave.`);
});

test('start: the project is registered once, with a notice', async () => {
  const { terminal, svc } = await machine();
  const listed = (): unknown =>
    JSON.parse(readFileSync(join(terminal.home, '.config/svc/config.json'), 'utf8')).svc.projects;
  expect(await svc('start', 'ABC-1', '--name', RUN, '--json')).toBe(0);
  expect(JSON.parse(terminal.printed())).toMatchObject({ orchestrator: RUN });
  expect(await svc('start', 'ABC-2', '--name', 'two', '--json')).toBe(0);
  expect(listed()).toEqual([terminal.home]);
  expect(terminal.complained().match(/^Registered /gm)).toHaveLength(1);
});

test('start: invalid plans are rejected, and nothing is started', async () => {
  const { world, terminal, svc } = await machine();
  const broken = join(terminal.home, 'broken.json');
  writeFileSync(broken, '{');
  for (const words of [
    [],
    ['ABC-1', '--wave', 'ABC-2'],
    ['--file', broken],
    ['--file', join(terminal.home, 'missing.json')],
    ['ABC-1', '--max-parallel', 'many'],
    ['ABC-1', '--max-parallel', '0'],
    ['ABC-1', '--name', '../x'],
    ['--wave', 'ABC-1,,ABC-2'],
    ['ABC-1', '--agent', 'claude', '--agent', 'codex'],
    ['ABC-1', '--agent', '../x'],
    ['ABC-1', '--agent', 'ABC-2=codex'],
    ['--', '--help', '$(id)'],
  ])
    expect([words, await svc('start', ...words)]).toEqual([words, 2]);
  expect(world.appended).toEqual([]);
});

test('status of a run: its waves, the state of each ticket, and what it is waiting for', async () => {
  const { world, holds, svc, lines } = await machine();
  world.begin([['ABC-1', 'ABC-2'], ['ABC-3']]);
  world.fold(ownLine('orchestrator.wave.started', undefined, { wave: 1, tickets: [] }));
  world.report(world.signal('ABC-1', { cost: { usd: 1.25 } }));
  world.report(world.signal('ABC-2', { status: 'failed', error: 'no \u001b[2Jdisk' }));
  holds.push({
    kind: 'hold',
    orchestrator: RUN,
    ticket: 'ABC-1',
    why: 'backoff',
    message: 'The process of ABC-1 is gone; waiting before the next step',
    until: '2026-01-02T03:12:00.000Z',
  });
  expect(await svc('status', RUN)).toBe(0);
  expect(lines().map((line) => line.replaceAll(/ +/g, ' ').trimEnd())).toEqual([
    `${RUN}: running, 0 of 3 done`,
    ' started 2026-01-02 03:00:00 UTC (10 min ago)',
    ' cost at least $1.25',
    'Wave 1: in progress',
    ' ABC-1 implementing 10 min ago',
    ' ABC-2 failed 10 min ago no ?[2Jdisk',
    'Wave 2: not started',
    ' ABC-3 not started',
    'The process of ABC-1 is gone; waiting before the next step (in 2 min)',
  ]);
});

test('status of a run has the words of the board for each ticket', async () => {
  const { world, svc, lines } = await machine();
  world.begin([['ABC-1']]);
  const pr = { number: 7, url: 'https://codehost.example/acme/web/pull/7' };
  world.report(world.signal('ABC-1', { status: 'pr-created', repo: 'acme/web', pr }));
  expect(await svc('status', RUN)).toBe(0);
  expect(lines().join('\n')).toMatch(/ABC-1 +claims a pull request; none was seen /);
});

test('status of all runs as text and as JSON; an unknown run', async () => {
  const { world, terminal, svc, lines } = await machine();
  expect(await svc('status')).toBe(0);
  expect(lines()).toEqual(['No runs yet. Start one: svc orchestrate start <tickets…>']);
  world.begin([['ABC-1']]);
  expect(await svc('status', '--json')).toBe(0);
  const [, ...rest] = terminal.printed().split('\n');
  expect(JSON.parse(rest.join('\n'))).toMatchObject([{ orchestrator: RUN, tickets: 1, holds: [] }]);
  expect(await svc('status', '../health')).toBe(1);
  expect(terminal.complained()).toContain('There is no run named ../health.');
});

test('pause, resume, retry and cancel print the new state of the run', async () => {
  const { world, svc, lines } = await machine();
  world.begin([['ABC-1']]);
  const signal = world.signal('ABC-1', { status: 'failed' });
  await world.signals.create(signal);
  world.report(signal);
  for (const words of [['pause'], ['resume'], ['retry', 'ABC-1'], ['cancel', 'ABC-1'], ['cancel']])
    expect(await svc(words[0] ?? '', RUN, ...words.slice(1))).toBe(0);
  expect(lines().filter((line) => line.startsWith(RUN))).toEqual(
    ['paused', 'running', 'running', 'running', 'canceled'].map((state) => `${RUN}: ${state}, 0 of 1 done`),
  );
  expect(world.appended.map(({ event }) => event)).toEqual([
    'orchestrator.run.paused',
    'orchestrator.run.resumed',
    'orchestrator.worker.retried',
    'orchestrator.run.canceled',
  ]);
  // It continues with the retried ticket.
  expect(await svc('retry', RUN, 'ABC-1')).toBe(0);
  expect(lines().findLast((line) => line.startsWith(RUN))).toBe(`${RUN}: running, 0 of 1 done`);
});

test('without a daemon, and outside a project', async () => {
  const terminal = testTerminal();
  expect(await runCommandLine(terminal, ['orchestrate', 'start', 'ABC-1'])).not.toBe(0);
  expect(terminal.complained()).toContain('The daemon is not running.');
});
