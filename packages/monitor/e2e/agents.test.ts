// The agents of a run end to end, in one process with real git: whether their program can be started, what they see of
// the environment, how a person learns why one ended, and that cancel and retry reach every worker of a run.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { needPid } from '@svc/lib/pid';
import {
  portForPrometheus,
  startPrometheus,
  svcProgram,
  temporaryFolder,
  testTerminal,
  until,
  untilHolds,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { metricsPanels } from '../../dashboard/src/screens/telemetry/agent-queries.ts';
import { runCommandLine } from '../src/cli/run.ts';
import { killGroup, lives } from '../src/features/agents/testing/scripted-agent.ts';
import type { AttentionView } from '../src/features/attention/api.ts';
import type { BoardView } from '../src/features/board/api.ts';
import type { RunView } from '../src/features/runs/api.ts';
import type { Why } from '../src/features/workers/api.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

/** Nothing is restarted during a test. */
const noRevivals = { SVC_ORCHESTRATE_TIMINGS: '{"revivalDelaysSec":[],"settleSec":0}' };
const WORKS = 'exec sleep 600';

/** A project whose agent runs a shell script, which a test may rewrite. */
async function world(
  script: string,
  given: { environment?: Record<string, string>; orchestration?: object } = {},
) {
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder, write } = repository;
  const writeScript = (lines: string): void => writeFileSync(join(root, 'agent.sh'), `${lines}\n`);
  writeScript(script);
  const environment = { ...repository.environment, ...given.environment };
  const orchestration = {
    agent: ['/bin/sh', join(root, 'agent.sh'), '${PROMPT}'],
    ...given.orchestration,
  };
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo', orchestration } }));
  const configDir = environment['SVC_CONFIG_DIR'] ?? join(home, '.config/svc');
  write(configDir, 'config.json', JSON.stringify({ svc: { projects: [folder] } }));
  const daemon = await startInProcess({ home, environment });
  const workers = join(daemon.machine.runsDir, 'run-1', 'workers');
  const pidOf = (name: string): number => needPid(readFileSync(join(workers, 'pids', name), 'utf8'));
  // Also what a failed test has left.
  onTestFinished(() => {
    const names = existsSync(join(workers, 'pids')) ? readdirSync(join(workers, 'pids')) : [];
    for (const pid of names.filter((name) => name.endsWith('.pid')).map(pidOf))
      if (lives(pid)) killGroup(pid);
  });
  const get = async <Answer>(path: string) => (await daemon.get(path)).body as unknown as Answer;
  return {
    ...repository,
    root,
    daemon,
    writeScript,
    /** The CLI: its exit code and its output. */
    svc: async (...words: string[]) => {
      const terminal = { ...testTerminal(), home, folder, environment: { ...environment } };
      const exit = await runCommandLine(terminal, words);
      return { exit, printed: terminal.printed(), complained: terminal.complained() };
    },
    signal: (ticket: string): SignalFile | undefined => {
      const file = join(workers, `${ticket}.json`);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SignalFile) : undefined;
    },
    /** The process of an attempt; 0 while there is none. */
    pid: (ticket: string, attempt: number): number => {
      const name = `${ticket}.${attempt}.pid`;
      return existsSync(join(workers, 'pids', name)) ? pidOf(name) : 0;
    },
    run: () => get<RunView & { holds: { why: string }[] }>('/api/runs/run-1'),
    worker: async (ticket: string) =>
      (await get<BoardView>('/api/board')).workers.find((worker) => worker.ticket === ticket),
    attention: async () => (await get<AttentionView>('/api/attention')).open,
    why: (ticket: string) => get<Why>(`/api/workers/${ticket}/why`),
  };
}

type World = Awaited<ReturnType<typeof world>>;

const statuses = async ({ run }: World) =>
  (await run()).waves.flatMap(({ tickets }) => tickets.map(({ status }) => status));

async function cancelAndStartAgain(here: World): Promise<void> {
  const { svc, writeScript, signal, pid, attention, run } = here;
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ exit: 0 });
  // It holds as soon as the command has ended, also for the ticket that was never started.
  expect(await statuses(here)).toEqual(['canceled', 'canceled']);
  expect([signal('A-1')?.status, signal('A-2')?.status]).toEqual(['canceled', 'canceled']);
  await until(async () => (await attention()).length === 0);
  // Repeating it is not an error.
  expect((await svc('orchestrate', 'cancel', 'run-1')).exit).toBe(0);
  expect((await svc('orchestrate', 'cancel', 'run-1', 'A-1')).exit).toBe(0);

  writeScript(WORKS);
  const before = [1, 2, 3].find((attempt) => pid('A-1', attempt) === 0) ?? 0;
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1')).toMatchObject({ exit: 0 });
  const agent = await until(() => pid('A-1', before));
  expect(lives(agent)).toBe(true);
  expect(await run()).toMatchObject({ state: 'running', endedAt: null });
  expect(await statuses(here)).toEqual(['dispatched', 'canceled']);
  expect((await svc('orchestrate', 'cancel', 'run-1')).exit).toBe(0);
  await until(() => !lives(agent));
  expect(await statuses(here)).toEqual(['canceled', 'canceled']);
}

test('a canceled run has no worker left over: one whose process is gone, one that was not started', async () => {
  const here = await world('exit 0');
  const { svc, run } = here;
  expect((await svc('orchestrate', 'start', '--wave', 'A-1', '--wave', 'A-2', '--name', 'run-1')).exit).toBe(
    0,
  );
  // It is gone and would be started again in a while.
  await until(async () => (await run()).holds.some(({ why }) => why === 'backoff'));
  await cancelAndStartAgain(here);
});

test('a canceled run has no worker left over: one that was given up, with its attention item', async () => {
  const here = await world('exit 0', { environment: noRevivals });
  const { svc, attention, signal } = here;
  expect((await svc('orchestrate', 'start', '--wave', 'A-1', '--wave', 'A-2', '--name', 'run-1')).exit).toBe(
    0,
  );
  await until(() => signal('A-1')?.status === 'failed');
  await until(async () => (await attention()).map(({ reason }) => reason).join() === 'worker-dead');
  await cancelAndStartAgain(here);
});

test('a ticket that was canceled is started again after its run is complete', async () => {
  const { svc, run, pid, writeScript } = await world('exit 0');
  expect((await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).exit).toBe(0);
  await until(() => pid('A-1', 1));
  expect((await svc('orchestrate', 'cancel', 'run-1', 'A-1')).exit).toBe(0);
  await until(async () => (await run()).state === 'completed');
  writeScript(WORKS);
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1')).toMatchObject({ exit: 0 });
  const agent = await until(() => pid('A-1', 2));
  await expect.poll(run).toMatchObject({ state: 'running', waves: [{ state: 'started' }] });
  expect((await svc('orchestrate', 'cancel', 'run-1')).exit).toBe(0);
  await until(() => !lives(agent));
});

test('a missing agent program: no run is started, and the fix is printed', async () => {
  const { svc, daemon } = await world('', { orchestration: { agent: ['no-such-agent', '${PROMPT}'] } });
  const { exit, complained } = await svc('orchestrate', 'start', 'A-1', '--name', 'run-1');
  expect(exit).toBe(6);
  expect(complained).toContain('The agent program "no-such-agent" cannot be used: it was not found');
  expect(complained).toContain('svc.orchestration.agent');
  expect((await daemon.get('/api/runs')).body).toEqual({ runs: [] });
});

test('a program that cannot be started is not started again, and the reason is shown everywhere', async () => {
  // It exists when it is checked, and later lacks its interpreter.
  const script = 'printf "\\033[31mstarting\\033[0m\\n" >&2; exec no-such-program';
  const here = await world(script, { environment: { SVC_ORCHESTRATE_TIMINGS: '{"settleSec":0}' } });
  const { svc, signal, pid, attention, worker, why } = here;
  expect((await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).exit).toBe(0);
  await until(() => signal('A-1')?.status === 'failed');
  expect([pid('A-1', 1) > 0, pid('A-1', 2)]).toEqual([true, 0]);
  const words = expect.stringMatching(/^[^\p{Cc}]*starting \| .*no-such-program: not found[^\p{Cc}]*$/u);
  expect(signal('A-1')?.error).toEqual(words);
  expect(signal('A-1')?.error).toContain("The agent's program cannot be started: ");
  await untilHolds(async () => {
    expect(await attention()).toMatchObject([{ reason: 'worker-dead', message: words }]);
  });
  expect((await worker('A-1'))?.process).toMatchObject({
    state: 'dead',
    stderr: expect.stringMatching(/^starting\n.*no-such-program: not found$/),
  });
  expect((await why('A-1')).facts.map(({ text }) => text)).toContainEqual(words);
  expect((await svc('why', 'A-1')).printed).toContain('no-such-program: not found');
  const { exit, printed } = await svc('worker', 'output', 'A-1');
  expect(exit).toBe(0);
  expect(printed).toContain('End of standard error:\n  starting\n');
  expect(printed).toContain('no-such-program: not found');
});

test('the agent of a daemon with other folders reaches that daemon with its own svc', async () => {
  const elsewhere = temporaryFolder();
  const folderOf = (name: string): string => join(elsewhere, name);
  mkdirSync(folderOf('config'));
  const locations = {
    SVC_DATA_DIR: folderOf('data'),
    SVC_CONFIG_DIR: folderOf('config'),
    SVC_RUNS_DIR: folderOf('runs'),
    SVC_EVENTS_DIR: folderOf('events'),
    SVC_DB_FILE: folderOf('index.db'),
    SVC_COMMS_DIR: folderOf('comms'),
    SVC_MONITOR_PORT: '0',
  };
  const svcOfAgent = `'${process.execPath}' '${svcProgram}'`;
  const script = [
    'env > "$HOME/seen.part"; mv "$HOME/seen.part" "$HOME/seen"',
    // The board shows a worker when the daemon has read its signal file.
    `until ${svcOfAgent} board > "$HOME/board.part" 2>&1 && grep A-1 "$HOME/board.part"; do sleep 0.1; done`,
    'mv "$HOME/board.part" "$HOME/board"',
    `${svcOfAgent} ticket phase research A-1 > "$HOME/phase.part" 2>&1; mv "$HOME/phase.part" "$HOME/phase"`,
    WORKS,
  ];
  const { svc, daemon, home, pid } = await world(script.join('\n'), { environment: locations });
  expect((await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).exit).toBe(0);
  const text = (name: string): Promise<string> =>
    until(() => (existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : ''));
  const seen = (await text('seen')).split('\n');
  for (const [name, value] of Object.entries(locations)) expect(seen).toContain(`${name}=${value}`);
  expect(await text('board')).toContain('A-1');
  // Directly into the log of that daemon, and not into a spool.
  expect(await text('phase')).toContain('no project that the daemon serves has tickets like A-1');
  expect(daemon.lines().map(({ event }) => event)).toContain('workflow.ticket.phase_changed');
  // It is the worker of the ticket, so the phase is its status.
  const status = () =>
    JSON.parse(readFileSync(join(folderOf('runs'), 'run-1/workers/A-1.json'), 'utf8')).status;
  await until(() => status() === 'researching');
  expect(existsSync(join(home, 'svc'))).toBe(false);
  const agent = pid('A-1', 1);
  expect((await svc('orchestrate', 'cancel', 'run-1')).exit).toBe(0);
  await until(() => !lives(agent));
});

/** Exports its figures like the default agent program when the OpenTelemetry variables ask for it. */
const exporter = `
const { CLAUDE_CODE_ENABLE_TELEMETRY: on, OTEL_METRICS_EXPORTER: how, OTEL_EXPORTER_PROMETHEUS_PORT: port } = process.env;
if (on !== '1' || how !== 'prometheus') throw new Error('telemetry is off');
const label = (text) => text.split(',').map((pair) => pair.split('=')).map(([name, value]) =>
  name.replaceAll('.', '_') + '="' + decodeURIComponent(value) + '"').join(',');
let scrapes = 0;
require('node:http').createServer((_, response) => {
  scrapes += 1;
  response.end([
    '# TYPE target_info gauge',
    'target_info{' + label(process.env.OTEL_RESOURCE_ATTRIBUTES) + '} 1',
    '# TYPE claude_code_cost_usage_USD_total counter',
    'claude_code_cost_usage_USD_total{model="opus"} ' + scrapes / 4,
    '# TYPE claude_code_token_usage_tokens_total counter',
    'claude_code_token_usage_tokens_total{type="input"} ' + scrapes * 100,
    'claude_code_token_usage_tokens_total{type="output"} ' + scrapes * 10,
    '',
  ].join('\\n'));
}).listen(Number(port), '127.0.0.1');
`;

test("the telemetry panels show the figures of a run's agent, from a real Prometheus", async () => {
  const port = await portForPrometheus();
  // Another one: by chance it could be the same.
  const agentPort = await until(async () => {
    const other = await portForPrometheus();
    return other === port ? 0 : other;
  });
  const environment = {
    OTEL_ENABLED: 'true',
    PROMETHEUS_URL: `http://127.0.0.1:${port}`,
    CLAUDE_CODE_ENABLE_TELEMETRY: '1',
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(agentPort),
  };
  const orchestration = { agent: [process.execPath, '-e', exporter, '${PROMPT}'] };
  const { svc, daemon, pid } = await world('', { environment, orchestration });
  expect((await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).exit).toBe(0);
  const agent = await until(() => pid('A-1', 1));
  const scrape = { job_name: 'agents', static_configs: [{ targets: [`127.0.0.1:${agentPort}`] }] };
  await startPrometheus({
    port,
    configuration: JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [scrape] }),
  });
  type Answer = { data: { result: { metric: Record<string, string>; values: [number, string][] }[] } };
  const ask = async (query: string): Promise<Answer['data']['result']> => {
    const end = Math.floor(Date.now() / 1000);
    const range = { query, start: String(end - 300), end: String(end), step: '5m' };
    const { body } = await daemon.get(`/api/otel/query?${new URLSearchParams(range).toString()}`);
    return (body as unknown as Answer).data.result;
  };
  for (const { title, query, by } of metricsPanels('5m'))
    await untilHolds(async () => {
      const series = await ask(query);
      const newest = series.map(({ metric, values }) => [metric[by ?? ''], Number(values.at(-1)?.[1])]);
      const names = by === null ? [undefined] : ['input', 'output'];
      expect([title, newest]).toEqual([title, names.map((name) => [name, expect.any(Number)])]);
      for (const [, amount] of newest) expect(amount).toBeGreaterThan(0);
    });
  // These distinguish the figures of a run and of a ticket.
  expect((await ask('target_info'))[0]?.metric).toMatchObject({
    svc_orchestration: 'run-1',
    ticket_key: 'A-1',
  });
  expect((await svc('orchestrate', 'cancel', 'run-1')).exit).toBe(0);
  await until(() => !lives(agent));
});
