import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { needPid } from '@svc/lib/pid';
import { system } from '@svc/lib/system';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AgentHome, agentHome, killGroup, lives, textIn } from '../testing/scripted-agent.ts';
import { endLeftovers, findAgents, nextAttempt } from './find-agents.ts';
import { agentFiles, endAgent, type Launch, type LaunchedAgent, launchAgent } from './launch.ts';

const processStarts = system.processStarts;
const environment = { PATH: '/usr/bin:/bin', SVC_ORCHESTRATOR: 'run-1', SVC_TICKET: 'ENG-1' };

async function launch(home: AgentHome, argv: [string, ...string[]], attempt = 1): Promise<Launch> {
  const launched = await launchAgent({
    argv,
    cwd: home.worktree,
    environment,
    files: home.files(attempt),
    processStarts,
    graceMs: 300,
  });
  if (launched.state === 'started') {
    const { pid } = launched.agent;
    onTestFinished(() => killGroup(pid));
  }
  return launched;
}

async function started(home: AgentHome, argv: [string, ...string[]], attempt = 1): Promise<LaunchedAgent> {
  const launched = await launch(home, argv, attempt);
  if (launched.state !== 'started') throw new Error(JSON.stringify(launched));
  return launched.agent;
}

const find = (home: AgentHome, now = new Date()) =>
  findAgents({ runsDir: home.runsDir, orchestrator: 'run-1', processStarts, now: () => now });

const forEver = 'while :; do sleep 0.05; done';

describe('launch', () => {
  test('in its folder, with only its environment, and its output in files', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('pwd', 'env | cut -d= -f1 | sort | tr "\\n" " "', 'echo trouble >&2', 'exit 7');
    const agent = await started(home, [...argv, 'a b', '$(id)']);
    expect(await agent.ended).toEqual({ known: true, exitCode: 7, signal: null });
    const { output, errors, pidFile } = home.files();
    const [folder, names = ''] = readFileSync(output, 'utf8').split('\n');
    expect(folder).toBe(home.worktree);
    // The shell adds its own.
    expect(
      names
        .trim()
        .split(' ')
        .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)),
    ).toEqual(['PATH', 'SVC_ORCHESTRATOR', 'SVC_TICKET']);
    expect(readFileSync(errors, 'utf8')).toBe('trouble\n');
    expect(readFileSync(pidFile, 'utf8')).toBe(`${agent.pid}\n`);
    expect([output, errors].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(statSync(dirname(pidFile)).mode & 0o777).toBe(0o700);
  });

  test('arguments are passed unchanged', async () => {
    const home = agentHome(temporaryFolder());
    const hostile = ['$(touch hacked)', '`id`', 'a b', "'", '"', '-n', '', '\n', ';exit 3', 'ü'];
    const argv = home.script('for one in "$@"; do printf "<%s>" "$one"; done');
    const agent = await started(home, [...argv, ...hostile]);
    expect(await agent.ended).toMatchObject({ exitCode: 0 });
    expect(readFileSync(home.files().output, 'utf8')).toBe(hostile.map((one) => `<${one}>`).join(''));
  });

  test('a later attempt appends', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('echo "$1"');
    await (await started(home, [...argv, 'one'])).ended;
    await (await started(home, [...argv, 'two'], 2)).ended;
    expect(readFileSync(home.files().output, 'utf8')).toBe('one\ntwo\n');
  });

  test('it is the leader of its own group, and its start time is returned', async () => {
    const home = agentHome(temporaryFolder());
    const before = Date.now();
    const { pid, startedAt } = await started(home, home.script(forEver));
    // The system reports it to about a second.
    expect(Date.parse(startedAt ?? '')).toBeGreaterThanOrEqual(before - 2_000);
    expect(Date.parse(startedAt ?? '')).toBeLessThanOrEqual(Date.now() + 2_000);
    expect(lives(pid)).toBe(true);
    process.kill(-pid, 'SIGKILL');
  });

  test('an attempt is started once, whether called repeatedly or concurrently', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('echo started', forEver);
    const all = await Promise.all(Array.from({ length: 5 }, () => launch(home, argv)));
    const agents = all.flatMap((one) => (one.state === 'started' ? [one.agent] : []));
    expect(agents).toHaveLength(1);
    expect(all.filter(({ state }) => state === 'already-started')).toHaveLength(4);
    expect(await launch(home, argv)).toEqual({ state: 'already-started', pid: agents[0]?.pid });
    await textIn(home.files().output);
    expect(readFileSync(home.files().output, 'utf8')).toBe('started\n');
    // Also when the first has ended.
    killGroup(agents[0]?.pid ?? 0);
    await agents[0]?.ended;
    expect(await launch(home, argv)).toMatchObject({ state: 'already-started' });
  });

  test("a missing program ends with the shell's error", async () => {
    const home = agentHome(temporaryFolder());
    const agent = await started(home, ['no-such-agent-program']);
    expect(await agent.ended).toMatchObject({ known: true, exitCode: 127 });
    expect(readFileSync(home.files().errors, 'utf8')).toContain('no-such-agent-program');
  });

  test('a failure to start has its reason', async () => {
    const home = agentHome(temporaryFolder());
    const missing = { ...home, worktree: join(home.worktree, 'gone') };
    expect(await launch(missing, ['true'])).toEqual({
      state: 'failed',
      problem: `The folder ${missing.worktree} does not exist.`,
    });
    expect(await launch(home, ['true', 'x'.repeat(4_000_000)])).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('E2BIG'),
    });
    expect(await find(home)).toEqual([]);
    expect(() => home.files(0)).toThrow('is not a valid');
    expect(() => agentFiles('/r', { orchestrator: '..', ticket: 'A', attempt: 1 })).toThrow('is not a valid');
  });

  test('processes that an agent leaves running end with it', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script(
      `(trap "" TERM; touch stubborn; ${forEver}) &`,
      'until [ -e stubborn ]; do sleep 0.01; done',
      'echo $! > left',
      'exit 0',
    );
    const agent = await started(home, argv);
    const left = needPid(await textIn(join(home.worktree, 'left')));
    expect(await agent.ended).toMatchObject({ exitCode: 0 });
    await until(() => !lives(left));
  });
});

describe('find agents', () => {
  test('a daemon that is killed between the start and the record: the agent continues, and is found', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('echo started', forEver);
    const program = join(import.meta.dirname, '../testing', 'launch-and-die.ts');
    const daemon = spawn(process.execPath, [program, home.runsDir, home.worktree, ...argv], {
      stdio: 'ignore',
    });
    onTestFinished(() => void daemon.kill('SIGKILL'));
    expect((await once(daemon, 'exit'))[1]).toBe('SIGKILL');
    const pid = needPid(await textIn(home.files().pidFile));
    onTestFinished(() => killGroup(pid));
    await textIn(home.files().output);
    const agents = await find(home);
    expect(agents).toMatchObject([{ ticket: 'ENG-1', attempt: 1, state: 'running', pid }]);
    expect(await launch(home, argv)).toEqual({ state: 'already-started', pid });
    expect(nextAttempt(agents, 'ENG-1')).toBe(2);
    const [agent] = agents;
    if (agent?.state !== 'running') throw new Error('It is not found.');
    expect(await endAgent({ ...agent, processStarts, graceMs: 2_000 })).toBe('ended');
    expect(lives(pid)).toBe(false);
    expect(await find(home)).toMatchObject([{ attempt: 1, state: 'gone' }]);
    expect(readFileSync(home.files().output, 'utf8')).toBe('started\n');
  });

  test('attempts in order; those that ended are gone', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('exit 0');
    await (await started(home, argv)).ended;
    await (await started(home, argv, 2)).ended;
    const { pid, startedAt } = await started(home, home.script(forEver), 10);
    const agents = await find(home);
    expect(agents.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'gone'],
      [2, 'gone'],
      [10, 'running'],
    ]);
    expect(agents[2]).toMatchObject({ pid, startedAt });
    expect([nextAttempt(agents, 'ENG-1'), nextAttempt(agents, 'ENG-2')]).toEqual([11, 1]);
  });

  test('a reused pid is not the agent', async () => {
    const home = agentHome(temporaryFolder());
    const { pid } = await started(home, home.script(forEver));
    const { pidFile } = home.files();
    // As if the file belonged to an agent that ended before this process started.
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(pidFile, longAgo, longAgo);
    expect(await find(home)).toMatchObject([{ state: 'gone' }]);
    expect(lives(pid)).toBe(true);
  });

  test('an interrupted start is starting for a while; other files are not agents', async () => {
    const home = agentHome(temporaryFolder());
    await (await started(home, home.script('exit 0'))).ended;
    const folder = dirname(home.files().pidFile);
    const now = new Date();
    writeFileSync(join(folder, 'ENG-2.1.pid'), '');
    writeFileSync(join(folder, 'ENG-3.1.pid'), '');
    utimesSync(join(folder, 'ENG-3.1.pid'), 1_000, 1_000);
    writeFileSync(join(folder, 'ENG-4.1.pid'), 'not a pid at all');
    for (const name of ['ENG-5.pid', '.x.1.pid', 'ENG-6.1.pid.tmp', 'ENG-7.one.pid'])
      writeFileSync(join(folder, name), `${process.pid}\n`);
    expect((await find(home, now)).map(({ ticket, state }) => [ticket, state])).toEqual([
      ['ENG-1', 'gone'],
      ['ENG-2', 'starting'],
      ['ENG-3', 'gone'],
      ['ENG-4', 'starting'],
    ]);
  });

  test.each(['', '0\n', '1\n', '-1\n', `-${process.pid}\n`, '12 13\n', '12'])(
    'a marker with %j names no process',
    async (text) => {
      const home = agentHome(temporaryFolder());
      const { pidFile } = home.files();
      mkdirSync(dirname(pidFile), { recursive: true });
      writeFileSync(pidFile, text);
      const later = new Date(Date.now() + 3_600_000);
      expect(await find(home, later)).toMatchObject([{ state: 'gone', pid: null }]);
    },
  );

  test('a run without agents, and an unsafe name, have none', async () => {
    const home = agentHome(temporaryFolder());
    expect(await find(home)).toEqual([]);
    const elsewhere = {
      runsDir: home.runsDir,
      orchestrator: '../run-1',
      processStarts,
      now: () => new Date(),
    };
    expect(await findAgents(elsewhere)).toEqual([]);
  });
});

describe('end', () => {
  test('first with a request: an agent may clean up', async () => {
    const home = agentHome(temporaryFolder());
    const argv = home.script('trap "echo tidy; exit 0" TERM', 'echo started', forEver);
    const { pid, startedAt, ended } = await started(home, argv);
    await textIn(home.files().output);
    expect(await endAgent({ pid, startedAt: startedAt ?? '', processStarts, graceMs: WAIT_MS })).toBe(
      'ended',
    );
    expect(await ended).toEqual({ known: true, exitCode: 0, signal: null });
    expect(readFileSync(home.files().output, 'utf8')).toBe('started\ntidy\n');
  });

  test('then by force, with its children', async () => {
    const home = agentHome(temporaryFolder());
    const stubborn = `(trap "" TERM; ${forEver}) &`;
    const argv = home.script('trap "" TERM', stubborn, 'echo $! > child', forEver);
    const { pid, startedAt, ended } = await started(home, argv);
    const child = Number(await textIn(join(home.worktree, 'child')));
    expect(await endAgent({ pid, startedAt: startedAt ?? '', processStarts, graceMs: 200 })).toBe('ended');
    expect(await ended).toEqual({ known: true, exitCode: null, signal: 'SIGKILL' });
    await until(() => !lives(child));
    expect(await endAgent({ pid, startedAt: startedAt ?? '', processStarts })).toBe('gone');
  });

  test.each([
    ['another start', (startedAt: string) => new Date(Date.parse(startedAt) - 60_000).toISOString()],
    ['no time at all', () => 'yesterday'],
  ])('a process that is not proven to be the agent is not touched: %s', async (_name, wrong) => {
    const home = agentHome(temporaryFolder());
    const { pid, startedAt } = await started(home, home.script(forEver));
    const claimed = wrong(startedAt ?? '');
    expect(await endAgent({ pid, startedAt: claimed, processStarts, graceMs: 100 })).toBe('not-ours');
    expect(lives(pid)).toBe(true);
  });
});

test.each([0, 1, -1])('process %i is never ended, whatever a file holds about it', async (pid) => {
  const reached: number[] = [];
  const really = process.kill.bind(process);
  // Agents of other tests may still be ending.
  const kill = vi.spyOn(process, 'kill').mockImplementation((target, signal) => {
    if (Math.abs(target) > 1) return really(target, signal);
    reached.push(target);
    return true;
  });
  onTestFinished(() => kill.mockRestore());
  const startedAt = new Date().toISOString();
  expect(await endAgent({ pid, startedAt, processStarts, graceMs: 1 })).toBe('not-ours');
  const running = { state: 'running', startedAt: Date.parse(startedAt), mark: '1' } as const;
  const confirmed = async () => new Map([[pid, running]]);
  await expect(endAgent({ pid, startedAt, processStarts: confirmed, graceMs: 1 })).rejects.toThrow(
    'is not the id of a process',
  );
  expect(await endLeftovers({ pid, orchestrator: 'run-1', ticket: 'ENG-1', graceMs: 1 })).toBe('none');
  expect(reached).toEqual([]);
});

describe.skipIf(process.platform !== 'linux')('leftover processes', () => {
  /** A group whose leader has gone while the rest still runs. */
  async function orphans(home: AgentHome): Promise<{ pid: number; left: number }> {
    const argv = home.script(`(${forEver}) > /dev/null 2>&1 &`, 'echo $! > left');
    const leader = spawn(argv[0], argv.slice(1), {
      cwd: home.worktree,
      env: environment,
      detached: true,
      stdio: 'ignore',
    });
    const pid = leader.pid ?? 0;
    onTestFinished(() => killGroup(pid));
    await once(leader, 'exit');
    return { pid, left: needPid(await textIn(join(home.worktree, 'left'))) };
  }

  test('of an agent whose end was not seen are ended', async () => {
    const { pid, left } = await orphans(agentHome(temporaryFolder()));
    const whose = { pid, orchestrator: 'run-1', ticket: 'ENG-1', graceMs: 500 };
    expect(await endLeftovers(whose)).toBe('ended');
    await until(() => !lives(left));
    expect(await endLeftovers(whose)).toBe('none');
  });

  test('of another program are not touched', async () => {
    const { pid, left } = await orphans(agentHome(temporaryFolder()));
    expect(await endLeftovers({ pid, orchestrator: 'run-1', ticket: 'ENG-2' })).toBe('not-shown');
    expect(lives(left)).toBe(true);
  });
});
