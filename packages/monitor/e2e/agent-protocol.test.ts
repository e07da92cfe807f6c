// Agents that svc talks to, through the command line and a daemon: what is shown, permissions, messages, and what happens
// when the agent or the daemon ends.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPid, readPid, signalGroup } from '@svc/lib/pid';
import { temporaryFolder, testTerminal, until, untilHolds } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { AgentView } from '../src/features/agents/api.ts';
import { lives } from '../src/features/agents/testing/scripted-agent.ts';
import type { BoardView } from '../src/features/board/api.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const program = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');

async function world(
  settings: { user?: object; agent?: object; commandLine?: string; variables?: Record<string, string> } = {},
) {
  let laterMs = 0;
  const now = (): Date => new Date(Date.now() + laterMs);
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder } = repository;
  const environment = { ...repository.environment, ...settings.variables };
  const received = join(home, 'received');
  writeFileSync(received, '');
  const agent = {
    command: process.execPath,
    args: [program],
    env: { RECEIVED: received },
    mode: 'ask',
    ...settings.agent,
  };
  const script = join(home, 'agent.sh');
  writeFileSync(script, settings.commandLine ?? '');
  const orchestration =
    settings.commandLine === undefined
      ? { agent: ['/bin/sh', '${PROMPT}'], agents: { sh: agent } }
      : { agent: ['/bin/sh', script, '${PROMPT}'] };
  repository.write(
    folder,
    '.svc/config.json',
    JSON.stringify({ svc: { projectKey: 'demo', orchestration } }),
  );
  const user = { svc: { projects: [folder], ...settings.user } };
  repository.write(home, '.config/svc/config.json', JSON.stringify(user));
  // Agents outlive their daemon. Registered first, so it runs after the daemon has stopped.
  onTestFinished(() => endAgents(join(home, 'svc/runs/run-1/workers/pids')));
  let daemon = await startInProcess({ home, environment, now });
  const terminal = { ...testTerminal(), home, folder, environment };
  const at = (shell: object, ...words: string[]) =>
    runCommandLine({ ...terminal, environment: { ...environment }, ...shell }, words);
  const svc = (...words: string[]) => at({}, ...words);
  const view = async ({ attempt }: { attempt?: number | undefined } = {}): Promise<AgentView> => {
    const query = attempt === undefined ? '' : `?attempt=${attempt}`;
    return (await daemon.get(`/api/workers/A-1/agent${query}`)).body as unknown as AgentView;
  };
  const untilState = (state: string) =>
    until(async () => {
      const shown = await view().catch(() => undefined);
      return shown?.agent?.state === state ? shown : undefined;
    });
  /** From the board. */
  const needs = async () => {
    const { workers } = (await daemon.get('/api/board')).body as unknown as BoardView;
    return { state: workers[0]?.agent?.state, needs: workers[0]?.needs };
  };
  const attention = async (): Promise<{ reason: string; message: string; remedy: string }[]> =>
    (
      (await daemon.get('/api/attention')).body as {
        open: { reason: string; message: string; remedy: string }[];
      }
    ).open;
  return {
    ...repository,
    terminal,
    svc,
    at,
    view,
    untilState,
    attention,
    needs,
    lines: () => daemon.lines(),
    /** Without the later lines of a prompt. */
    received: () =>
      readFileSync(received, 'utf8')
        .split('\n')
        .filter((line) => /^(?:prompt|image|answer|set) /.test(line)),
    start: async (): Promise<void> => {
      expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1'), terminal.complained()).toBe(0);
    },
    restart: async (): Promise<void> => {
      await daemon.close();
      daemon = await startInProcess({ home, environment, now });
    },
    /** The clock of the daemon. */
    later: (minutes: number): void => void (laterMs += minutes * 60_000),
    pid: (ticket: string, attempt: number): number => {
      const file = join(home, `svc/runs/run-1/workers/pids/${ticket}.${attempt}.pid`);
      return existsSync(file) ? needPid(readFileSync(file, 'utf8')) : 0;
    },
    get: async (path: string) => (await daemon.get(path)).body,
    post: (path: string, body: object) =>
      daemon.post(path, JSON.stringify(body), { 'Content-Type': 'application/json' }),
  };
}

function endAgents(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.endsWith('.pid')) continue;
    const pid = readPid(readFileSync(join(folder, name), 'utf8'));
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
  }
}

test('an agent is seen, asked and answered; the log has its turn in few lines', async () => {
  const { start, svc, untilState, attention, received, terminal, lines } = await world();
  await start();
  await untilState('idle');
  await until(async () => (await attention()).some(({ reason }) => reason === 'agent-stopped'));
  expect(await svc('agent', 'send', 'A-1', 'ask'), terminal.complained()).toBe(0);
  const { agent } = await untilState('needs-permission');
  expect(agent).toMatchObject({ name: 'sh', protocol: true, mode: 'ask', open: [{ title: 'touch made' }] });
  const [item] = await until(async () => {
    const open = await attention();
    return open.some(({ reason }) => reason === 'agent-needs-permission') ? open : undefined;
  });
  expect(item).toMatchObject({
    reason: 'agent-needs-permission',
    message: 'The agent asks for permission: touch made',
    remedy: 'svc agent answer A-1 allow (or reject)',
  });
  const id = 'run-1/A-1/agent-needs-permission';
  expect(await svc('attention', 'resolve', id)).toBe(1);
  expect(terminal.complained()).toContain(
    'its cause still exists. The agent asks for permission: touch made',
  );
  expect(terminal.complained()).toContain(
    `svc agent answer A-1 allow (or reject), or hide it for a while: svc attention snooze ${id}`,
  );
  expect(await svc('attention', 'snooze', id, '--for', '2h')).toBe(0);
  expect(await svc('board')).toBe(0);
  expect(terminal.printed()).toContain('1 needs you, 0 working');
  expect(await svc('attention', 'undo', id)).toBe(0);
  expect((await attention()).map(({ reason }) => reason)).toContain('agent-needs-permission');
  expect(await svc('why', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('The process is running.');
  expect(terminal.printed()).not.toContain('It is not known whether the process is running');
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toMatch(/State: waiting for your permission, since .*\n(?!.*unknown, )/);
  expect(await svc('agent', 'answer', 'A-1', 'allow_always')).toBe(2);
  expect(terminal.complained()).toContain('--confirm');
  expect(await svc('agent', 'answer', 'A-1', 'reject_always')).toBe(2);
  expect(received()).toHaveLength(2);
  expect(await svc('agent', 'answer', 'A-1', 'allow'), terminal.complained()).toBe(0);
  expect(await svc('agent', 'answer', 'A-1', 'allow')).not.toBe(0);
  await untilState('idle');
  expect(received().slice(1)).toEqual(['prompt ask', expect.stringContaining('"optionId":"yes"')]);
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('touch made. You allowed this');
  expect(terminal.printed()).not.toMatch(/end_turn|turn ended/i);
  await until(async () => (await attention()).every(({ reason }) => reason !== 'agent-needs-permission'));
  expect(await svc('events', 'list', '--event', 'comms.attention_resolved', '--json')).toBe(0);
  expect(terminal.printed()).toMatch(/"Resolved: (?:it was answered|.+ answered it)"/);
  const events = lines().filter(({ event }) => event.startsWith('agent.'));
  expect(events.filter(({ event }) => event === 'agent.request.answered')).toMatchObject([
    { detail: { answer: 'allow_once' } },
  ]);
  expect(events.length).toBeLessThan(30);
});

test('the daemon is restarted while a permission is open: it is still open, and nothing is sent twice', async () => {
  const { start, svc, view, untilState, restart, received, lines } = await world();
  await start();
  await untilState('idle');
  await svc('agent', 'send', 'A-1', 'ask');
  await untilState('needs-permission');
  await until(() => lines().some(({ event }) => event === 'agent.request.opened'));
  const before = lines().filter(({ event }) => event.startsWith('agent.')).length;
  await restart();
  // The first view is before the daemon follows the agent again.
  expect((await view()).items.filter((item) => item.kind === 'request')).toMatchObject([{ answer: null }]);
  await untilState('needs-permission');
  expect(lines().filter(({ event }) => event.startsWith('agent.'))).toHaveLength(before);
  expect(await svc('agent', 'answer', 'A-1', 'reject')).toBe(0);
  await untilState('idle');
  expect(received()).toHaveLength(3);
});

test('an agent is followed live, also over a restart of the daemon; each line is printed once', async () => {
  const { start, svc, untilState, restart, home, folder, terminal } = await world();
  await start();
  await untilState('idle');
  const left = new AbortController();
  const watcher = { ...testTerminal(), home, folder, environment: terminal.environment };
  const followed = runCommandLine({ ...watcher, interrupted: left.signal }, ['agent', 'follow', 'A-1']);
  await svc('agent', 'send', 'A-1', 'say 2');
  await until(() => /> .*say 2\n0 1/.test(watcher.printed()));
  await restart();
  await svc('agent', 'send', 'A-1', 'ask');
  await until(() => watcher.printed().includes('Answer: svc agent answer A-1 allow|reject'));
  left.abort();
  expect(await followed).toBe(130);
  expect(watcher.printed().split('say 2')).toHaveLength(2);
});

test('an agent is followed into its next attempt, whose conversation does not replace the one before', async () => {
  const { start, svc, untilState, home, folder, terminal, view } = await world();
  await start();
  await untilState('idle');
  const left = new AbortController();
  const watcher = { ...testTerminal(), home, folder, environment: terminal.environment };
  const followed = runCommandLine({ ...watcher, interrupted: left.signal }, ['agent', 'follow', 'A-1']);
  await svc('agent', 'send', 'A-1', 'say 2');
  await until(() => /> .*say 2\n0 1/.test(watcher.printed()));
  await untilState('idle');
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1'), terminal.complained()).toBe(0);
  await until(async () => (await view()).attempt === 2);
  await untilState('idle');
  await svc('agent', 'send', 'A-1', 'say 3');
  await until(() => /> .*say 3\n0 1 2/.test(watcher.printed()));
  left.abort();
  expect(await followed).toBe(130);
  for (const said of ['say 2', 'say 3']) expect(watcher.printed().split(`: ${said}\n`)).toHaveLength(2);
  const prompts = async (attempt?: number) =>
    (await view({ attempt })).items.flatMap((item) => (item.kind === 'prompt' ? item.text : []));
  expect(await prompts()).toContain('say 3');
  expect(await prompts()).not.toContain('say 2');
  expect(await prompts(1)).toContain('say 2');
  const shown = { ...testTerminal(), home, folder, environment: terminal.environment };
  expect(await runCommandLine(shown, ['agent', 'show', 'A-1', '--attempt', '1'])).toBe(0);
  expect(shown.printed()).toContain('Attempt 1; the newest is 2.');
  expect(shown.printed()).toContain('say 2');
  expect(shown.printed()).not.toContain('say 3');
});

test('an agent that was killed is started again and resumes its session', async () => {
  const { start, untilState, home, lines, svc, received } = await world();
  await start();
  await untilState('idle');
  const pid = needPid(readFileSync(join(home, 'svc/runs/run-1/workers/pids/A-1.1.pid'), 'utf8'));
  process.kill(pid, 'SIGKILL');
  await untilState('ended');
  expect(await svc('agent', 'send', 'A-1', 'say 2')).toBe(0);
  await until(() => received().includes('prompt say 2'));
  const started = () => lines().filter(({ event }) => event === 'agent.session.started');
  await expect.poll(() => started().map(({ detail }) => detail['how'])).toEqual(['new', 'resume']);
});

test('what the agent offers is shown, and a model is changed to what it confirms', async () => {
  const { start, svc, untilState, terminal, received, restart, get, lines } = await world({
    agent: { args: [program, 'offers'] },
  });
  await start();
  await untilState('idle');
  expect(await svc('agent', 'options', 'A-1'), terminal.complained()).toBe(0);
  expect(terminal.printed()).toMatch(/Mode: ask\n.*auto +Auto \(needs --confirm\)/s);
  expect(terminal.printed()).toMatch(/Model: small\n.*large +Model large/s);
  expect(terminal.printed()).toMatch(/\/compact +Summarise the conversation\n.*\/review <number>/);
  expect(await svc('agent', 'set', 'A-1', '--model', 'large', '--key', 'once'), terminal.complained()).toBe(
    0,
  );
  expect(terminal.printed()).toContain('The agent of A-1 confirmed it: mode ask, model large.');
  expect(await svc('agent', 'set', 'A-1', '--model', 'large', '--key', 'once')).toBe(0);
  expect(received().filter((line) => line === 'set model large')).toHaveLength(1);
  expect(await svc('agent', 'set', 'A-1', '--model', 'huge')).toBe(2);
  expect(terminal.complained()).toContain('does not offer the model "huge". It offers: small, large, lost.');
  expect(await svc('agent', 'set', 'A-1', '--model', 'lost')).toBe(1);
  expect(terminal.complained()).toContain('did not take the model lost: it did not change it');
  await restart();
  await untilState('idle');
  expect(await get('/api/workers/A-1/agent/options')).toMatchObject({ model: 'large', mode: 'ask' });
  const changed = lines().filter(({ event }) => event === 'agent.mode_changed');
  expect(changed.map(({ detail }) => detail)).toMatchObject([
    { model: 'small' },
    { model: 'large', by: expect.any(String) },
  ]);
});

test('a mode in which it may not ask needs a confirmation, holds over a restart, and ends with its process', async () => {
  const { start, svc, untilState, terminal, received, restart, get, view, pid } = await world({
    agent: { args: [program, 'offers'], model: 'small' },
  });
  await start();
  await untilState('idle');
  expect(await svc('agent', 'set', 'A-1', '--mode', 'auto')).toBe(2);
  expect(terminal.complained()).toContain(
    'svc does not know whether the agent of A-1 still asks for permissions in the mode auto. Nothing was changed.',
  );
  const sets = () => received().filter((line) => line.startsWith('set '));
  const before = sets();
  expect(before).toEqual(['set mode ask']);
  expect(await svc('agent', 'set', 'A-1', '--mode', 'auto', '--confirm'), terminal.complained()).toBe(0);
  await restart();
  await untilState('idle');
  expect(await get('/api/workers/A-1/agent/options')).toMatchObject({ mode: 'auto' });
  expect(await svc('agent', 'send', 'A-1', 'say 2')).toBe(0);
  await until(() => received().includes('prompt say 2'));
  await untilState('idle');
  expect(sets()).toEqual([...before, 'set mode auto']);
  expect((await view()).agent).toMatchObject({ attempt: 1, mode: 'auto' });
  // Back is always allowed.
  expect(await svc('agent', 'set', 'A-1', '--mode', 'ask'), terminal.complained()).toBe(0);
  expect(await svc('agent', 'set', 'A-1', '--mode', 'auto', '--confirm')).toBe(0);
  signalGroup(pid('A-1', 1), 'SIGKILL');
  await until(async () => (await view()).agent?.attempt === 2);
  await untilState('idle');
  expect(await get('/api/workers/A-1/agent/options')).toMatchObject({ mode: 'ask' });
});

test('stop cancels the turn and its open requests', async () => {
  const { start, svc, untilState, lines, terminal } = await world();
  await start();
  await untilState('idle');
  await svc('agent', 'send', 'A-1', 'wait');
  await untilState('running');
  expect(await svc('agent', 'stop', 'A-1')).toBe(0);
  await untilState('idle');
  await until(() => lines().some(({ detail }) => detail['reason'] === 'cancelled'));
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('You stopped it');
  await svc('agent', 'send', 'A-1', `do ${JSON.stringify([['say', '- the **first**'], ['end']])}`);
  await until(async () => {
    await svc('agent', 'show', 'A-1');
    return terminal.printed().includes('• the first');
  });
});

test('stopping is no alarm; an end before the work is done is one, and not a question', async () => {
  const { start, svc, untilState, needs, attention, terminal } = await world();
  await start();
  await untilState('idle');
  await until(async () => (await attention()).some(({ reason }) => reason === 'agent-stopped'));
  expect(await svc('attention')).toBe(0);
  expect(terminal.printed()).toMatch(/The agent stopped before its work was done(?:$|:)/m);
  expect(terminal.printed()).toContain('svc agent send A-1');
  await svc('agent', 'send', 'A-1', 'wait');
  await untilState('running');
  await until(async () => (await attention()).length === 0);
  expect(await svc('agent', 'stop', 'A-1')).toBe(0);
  // What needs a person is known with the state, before any item of it could be written.
  await until(async () => (await needs()).state === 'idle');
  expect(await needs()).toEqual({ state: 'idle', needs: [] });
  expect(await attention()).toEqual([]);
});

test('a retry ends a process that only waits, and starts a new one; while the agent works it is refused', async () => {
  const { start, svc, untilState, home, terminal } = await world();
  const pidOf = (attempt: number) =>
    needPid(readFileSync(join(home, `svc/runs/run-1/workers/pids/A-1.${attempt}.pid`), 'utf8'));
  await start();
  await untilState('idle');
  await svc('agent', 'send', 'A-1', 'wait');
  await untilState('running');
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1')).toBe(1);
  expect(terminal.complained()).toContain('The agent of A-1 is working, so there is nothing to retry.');
  await svc('agent', 'stop', 'A-1');
  await untilState('idle');
  const before = pidOf(1);
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('A-1 is started again, with a new process.');
  await until(() => existsSync(join(home, 'svc/runs/run-1/workers/pids/A-1.2.pid')));
  await until(() => !lives(before));
});

test("the user's policy answers, and the log shows that it did", async () => {
  const { start, svc, received, lines } = await world({
    user: { orchestration: { permissions: { execute: 'reject' } } },
  });
  await start();
  await until(() => received().length === 1);
  await svc('agent', 'send', 'A-1', 'ask');
  await until(() => received().length === 3);
  expect(received()[2]).toContain('"optionId":"no"');
  await until(() => lines().some(({ event }) => event === 'agent.request.answered'));
  expect(lines().find(({ event }) => event === 'agent.request.answered')).toMatchObject({
    detail: { answer: 'reject_once', by: 'policy' },
  });
});

test('an agent that does not take the permission mode gets no prompt, and the reason is shown', async () => {
  const { start, untilState, attention, received } = await world({
    agent: { args: [program, 'broken-mode'], mode: 'broken' },
  });
  await start();
  await untilState('ended');
  await until(async () => (await attention()).some(({ message }) => message.includes('broken')));
  expect(received()).toEqual([]);
});

test('an agent without work is ended, keeps its question, and the next message starts it again', async () => {
  const here = await world();
  const { start, svc, view, untilState, attention, received, terminal, lines, later, pid } = here;
  await start();
  await untilState('idle');
  await until(async () => (await attention()).some(({ reason }) => reason === 'agent-stopped'));
  const asked = async () => (await attention()).map(({ reason, message }) => ({ reason, message }));
  const before = await asked();
  const first = pid('A-1', 1);
  later(31);
  await until(() => !lives(first));
  await until(() => lines().some(({ event }) => event === 'agent.session.ended'));
  await until(() => lines().some(({ event }) => event === 'orchestrator.worker.died'));
  expect((await view()).agent).toMatchObject({ attempt: 1, state: 'idle', suspended: { minutes: 30 } });
  expect(await asked()).toEqual(before);
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('ended after 30 minutes without work');
  await until(async () => JSON.stringify(await here.get('/api/runs/run-1')).includes('"why":"idle"'));
  expect(await svc('why', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('It was ended after 30 minutes without work');

  await here.restart();
  const turns = () => lines().filter(({ event }) => event === 'agent.turn.ended').length;
  const send = async (text: string): Promise<void> => {
    const ended = turns();
    expect(await svc('agent', 'send', 'A-1', text), terminal.complained()).toBe(0);
    await until(() => turns() > ended);
    await untilState('idle');
  };
  await send('say 1');
  const { agent } = await view();
  expect(agent).toMatchObject({ attempt: 2, state: 'idle', sessionId: 'session-1' });
  expect(agent?.suspended).toBeUndefined();
  expect(received().filter((line) => line === 'prompt say 1')).toHaveLength(1);
  expect(lines().filter(({ event }) => event === 'agent.suspended')).toHaveLength(1);

  // As often as it takes: it is never given up.
  for (const attempt of [2, 3, 4, 5]) {
    // On a busy machine the end of its turn is noted after the clock was moved: it is moved again.
    let moved = -Infinity;
    await until(() => {
      if (performance.now() - moved > 10_000) {
        later(31);
        moved = performance.now();
      }
      return !lives(pid('A-1', attempt));
    });
    await send(`say ${attempt}`);
  }
  await untilHolds(async () =>
    expect((await asked()).map(({ reason }) => reason)).toEqual(['agent-stopped']),
  );
});

test('an agent that waits for an answer is not ended; with null, none is', async () => {
  const { svc, later, pid, untilState, terminal, lines } = await world();
  expect(await svc('orchestrate', 'start', 'A-1', 'A-2', '--name', 'run-1'), terminal.complained()).toBe(0);
  await untilState('idle');
  await svc('agent', 'send', 'A-1', 'ask');
  await untilState('needs-permission');
  await until(() =>
    lines().some(({ event, scope }) => event === 'agent.turn.ended' && scope.ticket === 'A-2'),
  );
  later(31);
  // Both are looked at in the same round.
  await until(() => pid('A-2', 1) > 0 && !lives(pid('A-2', 1)));
  expect(lives(pid('A-1', 1))).toBe(true);
  await untilState('needs-permission');

  const user = { orchestration: { idleAgentMinutes: null } };
  const never = await world({ user });
  await never.start();
  await never.untilState('idle');
  never.later(600);
  await never.svc('agent', 'send', 'A-1', 'say 1');
  await until(() => never.received().includes('prompt say 1'));
  expect(never.lines().filter(({ event }) => event === 'agent.suspended')).toEqual([]);
  expect(never.pid('A-1', 2)).toBe(0);
});

test('a usage limit is a pause with its end, and a person’s stop ends it', async () => {
  const { start, svc, untilState, attention, terminal, lines } = await world();
  await start();
  await untilState('idle');
  const limit = { code: 429, message: "You've hit your usage limit. Try again in 2 hours." };
  await svc('agent', 'send', 'A-1', `do [["error",${JSON.stringify(limit)}]]`);
  const { agent } = await untilState('paused');
  const end = agent?.limit?.resumeAt ?? '';
  expect(Math.abs(Date.parse(end) - Date.now() - 7_200_000)).toBeLessThan(600_000);
  await until(async () => (await attention()).length === 0);
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain(`State: paused until ${end.slice(0, 10)}`);
  expect(await svc('why', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain(`svc continues at ${end}`);
  expect(await svc('agent', 'stop', 'A-1'), terminal.complained()).toBe(0);
  await untilState('idle');
  expect(lines().filter(({ event }) => event === 'agent.stopped')).toHaveLength(1);
});

test('a limit without an end needs a person, who can run the fix as it is shown', async () => {
  const { start, svc, at, untilState, attention, received, terminal } = await world();
  await start();
  await untilState('idle');
  const limit = { code: -32603, message: 'Your credit balance is too low to access the API.' };
  await svc('agent', 'send', 'A-1', `do [["error",${JSON.stringify(limit)}]]`);
  await untilState('paused');
  const [item] = await until(async () => {
    const open = await attention();
    return open.some(({ reason }) => reason === 'agent-limit') ? open : undefined;
  });
  expect(item).toMatchObject({ remedy: 'svc agent send A-1' });
  expect(item?.message).toContain('svc does not continue by itself');
  const [, ...fix] = item?.remedy.split(' ') ?? [];
  expect(await svc(...fix)).toBe(2);
  expect(terminal.complained()).toContain('A message needs a text.');
  const asked: string[] = [];
  const answered = (line: string | undefined) => ({
    inputIsTerminal: true,
    ask: async (question: string) => (asked.push(question), line),
  });
  expect(await at(answered(undefined), ...fix)).toBe(2);
  expect(await at(answered('say 1'), ...fix)).toBe(0);
  expect(asked).toEqual(Array.from({ length: 2 }, () => 'Message to the agent of A-1: '));
  await until(() => received().includes('prompt say 1'));
});

test('a command line that ends at a usage limit is not started again before its end', async () => {
  const end = Math.floor(Date.now() / 1_000) + 7_200;
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: true,
    result: `Claude AI usage limit reached|${end}`,
  };
  const { start, view, attention, terminal, svc, lines } = await world({
    commandLine: `echo '${JSON.stringify(result)}'; exit 1`,
  });
  await start();
  const resumeAt = new Date(end * 1_000).toISOString();
  await until(async () => (await view().catch(() => null))?.agent?.limit?.resumeAt === resumeAt);
  await until(async () => {
    await svc('orchestrate', 'status', 'run-1', '--json');
    return terminal.printed().includes('"limit"');
  });
  expect(lines().filter(({ event }) => event === 'agent.session.started')).toHaveLength(1);
  expect((await attention()).filter(({ reason }) => reason !== 'findings-waiting')).toEqual([]);
});

test('what an agent reports as its cost is shown for the ticket, over all attempts', async () => {
  const { start, svc, untilState, view, terminal, home } = await world();
  await start();
  await untilState('idle');
  const spend = (amount: number) =>
    svc(
      'agent',
      'send',
      'A-1',
      `do ${JSON.stringify([
        [
          'line',
          {
            method: 'session/update',
            params: {
              update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } },
            },
          },
        ],
        ['end'],
      ])}`,
    );
  await spend(1.5);
  await until(async () => (await view()).cost?.usd === 1.5);
  process.kill(needPid(readFileSync(join(home, 'svc/runs/run-1/workers/pids/A-1.1.pid'), 'utf8')), 'SIGKILL');
  await untilState('ended');
  await spend(0.25);
  await until(async () => (await view()).cost?.usd === 1.75);
  // The first turn of the first attempt reported nothing, and then the sum of its process.
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('Cost of the ticket: $1.75');
  expect(await svc('telemetry', 'cost')).toBe(0);
  expect(terminal.printed()).toMatch(/A-1 +run-1 +starting.* +\$1\.75/);
  expect(await svc('telemetry', 'cost', '--json')).toBe(0);
  expect(terminal.printed()).toContain('"perShipped": null');
});

test('a budget that is used up stops further turns; the amount is raised, and the message is sent', async () => {
  const { start, svc, untilState, attention, received, terminal, home } = await world({
    user: { orchestration: { budget: { ticketUsd: 2 } } },
  });
  await start();
  await untilState('idle');
  const cost = { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 2.5, currency: 'USD' } };
  const report = { method: 'session/update', params: { update: cost } };
  const go = join(home, 'go');
  const steps = [['line', report], ['run', `until [ -e '${go}' ]; do sleep 0.05; done`], ['end']];
  await svc('agent', 'send', 'A-1', `do ${JSON.stringify(steps)}`);
  await untilState('running');
  await svc('agent', 'send', 'A-1', 'say 1');
  writeFileSync(go, '');
  const item = await until(async () => (await attention()).find(({ reason }) => reason === 'budget-reached'));
  expect(item).toMatchObject({ remedy: 'svc config set svc.orchestration.budget.ticketUsd <amount>' });
  expect(item.message).toContain('$2.50 of $2.00');
  expect(await svc('agent', 'send', 'A-1', 'say 2')).toBe(0);
  expect(terminal.printed()).toContain('The budget of A-1 is used up');
  expect(received().filter((line) => line.startsWith('prompt say'))).toHaveLength(0);
  expect(await svc('config', 'set', 'svc.orchestration.budget.ticketUsd', '5'), terminal.complained()).toBe(
    0,
  );
  await until(() => received().filter((line) => line.startsWith('prompt say')).length === 2);
  await until(async () => (await attention()).every(({ reason }) => reason !== 'budget-reached'));
  expect(await svc('events', 'list', '--event', 'comms.attention_resolved', '--json')).toBe(0);
  expect(terminal.printed()).toContain('Resolved: the cost is below the budget again');
});

test('a retry gives the agent the variables that are configured now', async () => {
  const { start, svc, untilState, view, terminal, home } = await world({
    variables: { MODEL_KEY: 'new-key' },
  });
  await start();
  await untilState('idle');
  const seen = join(home, 'seen');
  const look = async (): Promise<string> => {
    const steps = [['run', `echo "key=$MODEL_KEY" > '${seen}.part' && mv '${seen}.part' '${seen}'`], ['end']];
    await svc('agent', 'send', 'A-1', `do ${JSON.stringify(steps)}`);
    await until(() => existsSync(seen));
    await untilState('idle');
    const text = readFileSync(seen, 'utf8').trim();
    rmSync(seen);
    return text;
  };
  expect(await look()).toBe('key=');
  expect(
    await svc('config', 'set', 'svc.orchestration.agentEnv', '["MODEL_KEY"]'),
    terminal.complained(),
  ).toBe(0);
  // The process that runs keeps the environment that it has.
  expect(await look()).toBe('key=');
  expect(await svc('orchestrate', 'retry', 'run-1', 'A-1'), terminal.complained()).toBe(0);
  expect(terminal.printed()).toContain('A-1 is started again, with a new process.');
  await until(async () => (await view()).attempt === 2);
  await untilState('idle');
  expect(await look()).toBe('key=new-key');
});

test.each([
  ['an agent whose commands see no git settings gets the name for its commits', 'gemini', 'Kim Müller'],
  ['others get no name: git reads its settings itself', 'mine', ''],
])('%s', async (_, name, author) => {
  const settings = join(temporaryFolder(), 'gitconfig');
  writeFileSync(settings, '[user]\n  name = Kim Müller\n');
  const noting = 'printf %s "$GIT_AUTHOR_NAME" > "$HOME/seen"; exec "$0" "$@"';
  const agent = { command: '/bin/sh', args: ['-c', noting, process.execPath, program], mode: 'ask' };
  const { svc, untilState, terminal, home } = await world({
    variables: { GIT_CONFIG_GLOBAL: settings },
    user: { orchestration: { agents: { [name]: agent } } },
  });
  const code = await svc('orchestrate', 'start', 'A-1', '--name', 'run-1', '--agent', name);
  expect(code, terminal.complained()).toBe(0);
  await untilState('idle');
  expect(readFileSync(join(home, 'seen'), 'utf8')).toBe(author);
});

/** By its first bytes; what follows is not looked at. */
const pngOf = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(bytes - 8)]);

test('an image reaches the agent byte for byte, once, also when the daemon is restarted before it is sent', async () => {
  const here = await world({ agent: { args: [program, 'images'] } });
  const { start, svc, untilState, restart, received, view, terminal, home, folder, lines, pid } = here;
  await start();
  await untilState('idle');
  expect(await svc('agent', 'options', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('Images: svc agent send --image');
  const first = pngOf(300_000);
  const second = Buffer.concat([Buffer.from('RIFF0000WEBP'), randomBytes(50)]);
  writeFileSync(join(folder, 'shot.png'), first);
  symlinkSync(join(folder, 'shot.png'), join(folder, 'linked'));
  writeFileSync(join(folder, 'mockup.webp'), second);
  await svc('agent', 'send', 'A-1', 'wait');
  await untilState('running');
  const send = () =>
    svc('agent', 'send', 'A-1', 'say 2', '--image', 'linked', '--image', 'mockup.webp', '--key', 'once');
  expect(await send(), terminal.complained()).toBe(0);
  expect(terminal.printed()).toContain('queued until the agent is idle');
  const attached = 'linked (png, 293 KiB), mockup.webp (webp, 1 KiB)';
  expect((await view()).waiting).toEqual([`say 2\nAttached: ${attached}`]);
  const output = join(home, 'svc/runs/run-1/workers/output');
  const images = () => readdirSync(output).filter((name) => /^A-1\.[0-9a-f]{64}\.(?:png|webp)$/.test(name));
  expect(images().map((name) => statSync(join(output, name)).mode & 0o777)).toEqual([0o600, 0o600]);

  await restart();
  await untilState('running');
  expect(await svc('agent', 'stop', 'A-1')).toBe(0);
  await until(() => received().includes('prompt say 2'));
  const sent = [
    `image image/png ${first.toString('base64')}`,
    `image image/webp ${second.toString('base64')}`,
    'prompt say 2',
  ];
  expect(received().slice(-3)).toEqual(sent);
  expect(await send()).toBe(0);
  await untilState('idle');
  await restart();
  await untilState('idle');
  expect(received().slice(-3)).toEqual(sent);
  const prompts = async () => (await view()).items.filter((item) => item.kind === 'prompt').at(-1);
  expect(await prompts()).toMatchObject({
    text: 'say 2',
    images: [
      { name: 'linked', type: 'image/png', bytes: 300_000 },
      { name: 'mockup.webp', type: 'image/webp', bytes: 62 },
    ],
  });
  expect(await svc('agent', 'show', 'A-1')).toBe(0);
  expect(terminal.printed()).toContain('with the image linked (png, 293 KiB)');
  expect(JSON.stringify(lines())).not.toContain(first.toString('base64').slice(0, 100));

  // That an ended agent accepts images is known from the log.
  signalGroup(pid('A-1', 1), 'SIGKILL');
  await untilState('ended');
  expect(await svc('agent', 'send', 'A-1', 'say 1', '--image', 'mockup.webp'), terminal.complained()).toBe(0);
  await until(() => received().includes('prompt say 1'));
  expect(received().at(-2)).toBe(sent[1]);
  expect(images()).toHaveLength(2);
});

test('an image whose file was changed before it is sent is named to the agent instead', async () => {
  const here = await world({ agent: { args: [program, 'images'] } });
  const { start, svc, untilState, received, home, folder } = here;
  await start();
  await untilState('idle');
  writeFileSync(join(folder, 'shot.png'), pngOf(100));
  await svc('agent', 'send', 'A-1', 'wait');
  await untilState('running');
  expect(await svc('agent', 'send', 'A-1', 'say 2', '--image', 'shot.png')).toBe(0);
  const output = join(home, 'svc/runs/run-1/workers/output');
  const file = readdirSync(output).find((name) => name.endsWith('.png')) ?? '';
  writeFileSync(join(output, file), pngOf(100));
  await svc('agent', 'stop', 'A-1');
  const named = 'prompt The image shot.png (png, 1 KiB) of this message is not sent: its file was changed.';
  await until(() => received().some((line) => line.startsWith(named)));
  expect(received().filter((line) => line.startsWith('image '))).toEqual([]);
});

test('what is not an image, is too large, or cannot be taken is refused with the way to do it', async () => {
  const here = await world({ agent: { args: [program, 'images'] } });
  const { start, svc, untilState, terminal, folder, view, post, received } = here;
  await start();
  await untilState('idle');
  const write = (name: string, content: Buffer | string): void => writeFileSync(join(folder, name), content);
  write('shot.png', pngOf(100));
  write('large.png', pngOf(5 * 1024 ** 2 + 1));
  write('half.png', pngOf(3 * 1024 ** 2));
  write('page.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  const refused = async (words: string, ...rest: string[]): Promise<void> => {
    const before = terminal.complained().length;
    expect(await svc('agent', 'send', 'A-1', 'say 2', ...rest)).toBe(2);
    expect(terminal.complained().slice(before)).toContain(words);
  };
  const most = 'A message can have at most 4 images, together at most 5 MiB. Send fewer, or smaller ones.';
  await refused(
    '"page.svg" is not an image that can be sent. Send a PNG, JPEG, GIF or WebP.',
    '--image',
    'page.svg',
  );
  await refused(most, ...Array.from({ length: 5 }, () => ['--image', 'shot.png']).flat());
  await refused(most, '--image', 'half.png', '--image', 'half.png');
  await refused('The image large.png cannot be read: ', '--image', 'large.png');
  await refused('The image missing.png cannot be read: ', '--image', 'missing.png');
  await refused('Images are not sent to another machine.', '--image', 'shot.png', '--machine', 'kim-laptop');
  const route = '/api/workers/A-1/agent/message';
  const half = { name: 'half.png', data: pngOf(3 * 1024 ** 2).toString('base64') };
  const asked = (...images: object[]) => post(route, { text: 'say 2', images });
  const more = { name: 'more.png', data: pngOf(2_300_000).toString('base64') };
  expect(await asked(half, more)).toMatchObject({ status: 400, body: { error: most } });
  expect(await asked({ name: 'x', data: 'not base64!' })).toMatchObject({ status: 400 });
  const svg = Buffer.from('<svg/>').toString('base64');
  expect(await asked({ name: 'x.png', data: svg })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('Send a PNG, JPEG, GIF or WebP.') },
  });
  expect(await asked(half, half)).toMatchObject({
    status: 413,
    body: { remedy: 'Send less in one request.' },
  });
  // Eleven of them are more than svc keeps for one ticket.
  for (let count = 0; count < 10; count += 1) expect(await asked(half)).toMatchObject({ status: 200 });
  expect(await asked(half)).toMatchObject({
    status: 409,
    body: { remedy: 'Copy the image into its worktree, and name its path in the message.' },
  });
  await until(() => received().filter((line) => line === 'prompt say 2').length === 10);
  expect((await view()).items.filter((item) => item.kind === 'prompt' && item.images)).toHaveLength(10);

  const other = await world();
  await other.start();
  await other.untilState('idle');
  expect(await other.svc('agent', 'options', 'A-1')).toBe(0);
  expect(other.terminal.printed()).toContain('Images: none');
  expect(await other.post(route, { text: 'say 2', images: [half] })).toMatchObject({
    status: 409,
    body: {
      error: 'The agent of A-1 does not report that it takes images.',
      remedy: 'Copy the image into its worktree, and name its path in the message.',
    },
  });
  expect((await other.view()).waiting).toEqual([]);

  const plain = await world({ commandLine: 'sleep 60' });
  await plain.start();
  await until(async () => (await plain.view().catch(() => null))?.agent?.protocol === false);
  expect(await plain.post(route, { text: 'say 2', images: [half] })).toMatchObject({
    status: 409,
    body: { error: 'The agent of A-1 runs as a command line: it takes no images.' },
  });
});
