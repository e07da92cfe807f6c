// Agents that people start themselves, from the hook's script to the board: the script is run as an agent runs it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { BoardView } from '../src/features/board/api.ts';
import { writeHookScript } from '../src/features/sessions/io/script.ts';
import { readHookToken } from '../src/kernel/access/token-file.ts';
import { readMachine } from '../src/kernel/config/environment.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';
import { startInProcess } from './in-process-daemon.ts';

const PROGRAM = [process.execPath, join(import.meta.dirname, '../src/cli/start.ts')];

type Session = BoardView['sessions'][number];

/** A home with the hooks of svc, whose daemon can be stopped and started. */
async function hookWorld() {
  const home = temporaryFolder();
  const environment = { SVC_DATA_DIR: join(home, 'svc') };
  const machine = readMachine(environment, home);
  await writeHookScript(machine, PROGRAM);
  let daemon = await startInProcess({ home, environment });
  const script = join(machine.dataDir, 'svc-agent-hook');

  /** Runs the script in a shell, as agents do; `by` is the process that stands for the agent. */
  async function hook(
    agent: string,
    event: string,
    fields: object,
    variables: Record<string, string> = {},
    onHook?: (child: ChildProcess) => void,
  ) {
    const child = spawn('/bin/sh', ['-c', `'${script}' ${agent} ${event}; exit $?`], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, ...variables },
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(fields));
    let printed = '';
    child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
    const ended = once(child, 'close') as Promise<[number]>;
    onHook?.(child);
    const [code] = await ended;
    return { code, printed };
  }

  /** As an agent asks with `svc hooks install claude --answer`: two hooks at once. `answered` is what the waiting one prints. */
  async function asks(of: { session_id: string; cwd: string }) {
    let child: ChildProcess | undefined;
    const answered = hook('claude', 'PermissionRequest answer', of, {}, (one) => (child = one));
    await hook('claude', 'PermissionRequest', of);
    const request = await until(async () => (await session(of.session_id))?.open[0]);
    return { answered, request, kill: () => child?.kill('SIGKILL') };
  }

  const session = async (id: string): Promise<Session | undefined> =>
    (await board()).sessions.find(({ key }) => key.endsWith(`/${id}`));

  const board = async (): Promise<BoardView> => (await daemon.get('/api/board')).body as BoardView;
  return {
    home,
    machine,
    hook,
    board,
    url: () => daemon.url,
    stop: () => daemon.close(),
    restart: async (): Promise<void> => {
      await daemon.close();
      daemon = await startInProcess({ home, environment });
    },
    svc: async (...words: string[]): Promise<string> => {
      const terminal = { ...testTerminal(), home, environment };
      await runCommandLine(terminal, words);
      return terminal.printed() + terminal.complained();
    },
    asks,
    session,
    /** As a hook sends it. */
    post: async (path: string, body: object, token = readHookToken(machine.dataDir)) => {
      const answer = await fetch(`${daemon.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Svc-Hook-Token': token ?? '' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    log: (): string =>
      readFileSync(join(machine.eventsDir, `${new Date().toISOString().slice(0, 7)}.jsonl`), 'utf8'),
    untilState: async (id: string, state: string): Promise<Session> =>
      until(async () => {
        const found = (await board()).sessions.find(({ key }) => key.endsWith(`/${id}`));
        return found?.state === state ? found : undefined;
      }),
  };
}

function repository(home: string, name: string, branch: string): string {
  const folder = join(home, name);
  mkdirSync(join(folder, '.git'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, '.git/HEAD'), `ref: refs/heads/${branch}\n`);
  return folder;
}

const asked = { tool_name: 'Bash', tool_input: { command: 'rm -rf /tmp/secret-text' } };

test('a session is on the board by folder and branch, and its request is an attention item', async () => {
  const { home, hook, untilState, board, svc, log } = await hookWorld();
  const folder = repository(home, 'web', 'fix-login');
  const of = { session_id: 's-1', cwd: join(folder, 'src') };
  const { code, printed } = await hook('claude', 'SessionStart', { ...of, source: 'startup' });
  expect({ code, printed }).toEqual({ code: 0, printed: '' });
  expect(await untilState('s-1', 'idle')).toMatchObject({
    agent: 'claude',
    folder,
    branch: 'fix-login',
    known: 'hook',
  });
  await hook('claude', 'UserPromptSubmit', { ...of, prompt: 'secret-text' });
  await untilState('s-1', 'running');
  await hook('claude', 'PermissionRequest', { ...of, ...asked });
  expect(await untilState('s-1', 'needs-permission')).toMatchObject({ tool: 'Bash' });
  const item = await until(async () => (await board()).attention[0]);
  expect(item).toMatchObject({ reason: 'agent-needs-permission', session: 'claude/s-1', severity: 'high' });
  expect(item.message).toBe(`claude asks for permission (Bash) in ${folder}, branch fix-login`);
  expect(item.remedy).toContain(folder);
  expect(await svc('board')).toMatch(
    /web +fix-login +claude +waiting for your permission \(Bash\) .* known by hook/,
  );
  expect(await svc('attention', 'ack', '--', item.id)).not.toContain('error');
  expect((await board()).attention[0]?.acknowledged).not.toBeNull();
  await hook('claude', 'PostToolUse', { ...of, ...asked, tool_response: 'secret-text' });
  await untilState('s-1', 'running');
  await until(async () => (await board()).attention.length === 0);
  await hook('claude', 'SessionEnd', of);
  await untilState('s-1', 'ended');
  expect(await svc('board')).not.toContain('waiting for your permission');
  expect(log()).not.toContain('secret-text');
});

test('two sessions in one folder are two; one that moves is shown in its new folder', async () => {
  const { home, hook, untilState, board } = await hookWorld();
  const web = repository(home, 'web', 'main');
  const api = repository(home, 'api', 'next');
  await hook('claude', 'UserPromptSubmit', { session_id: 'a', cwd: web });
  await hook('codex', 'UserPromptSubmit', { session_id: 'b', cwd: web });
  await untilState('a', 'running');
  await untilState('b', 'running');
  await hook('claude', 'PermissionRequest', { session_id: 'a', cwd: web, ...asked });
  await untilState('a', 'needs-permission');
  expect(await untilState('b', 'running')).toMatchObject({ folder: web, branch: 'main' });
  await hook('codex', 'Stop', { session_id: 'b', cwd: api });
  expect(await untilState('b', 'idle')).toMatchObject({ folder: api, branch: 'next' });
  expect((await board()).sessions).toHaveLength(2);
});

test('events that a stopped daemon missed make the state unknown, until the next one', async () => {
  const { home, hook, untilState, board, stop, restart } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main') };
  await hook('claude', 'PermissionRequest', { ...of, ...asked });
  await untilState('s', 'needs-permission');
  await until(async () => (await board()).attention.length === 1);
  await stop();
  const { code, printed } = await hook('claude', 'PostToolUse', { ...of, ...asked });
  expect({ code, printed }).toEqual({ code: 0, printed: '' });
  await restart();
  expect(await untilState('s', 'unknown')).toMatchObject({
    known: 'unknown',
    reason: expect.stringContaining('not running'),
  });
  await until(async () => (await board()).attention.length === 0);
  await hook('claude', 'Stop', of);
  expect(await untilState('s', 'idle')).toMatchObject({ known: 'hook' });
});

test('a session whose process is gone has ended, and that is known by the process', async () => {
  const { home, machine, untilState } = await hookWorld();
  const cwd = repository(home, 'web', 'main');
  // Stands for the agent: a process that runs the hook, and then nothing.
  const text = JSON.stringify({ session_id: 's', cwd });
  const agent: ChildProcess = spawn(
    process.execPath,
    [
      '-e',
      `require('child_process').spawnSync('sh', ['-c', process.argv[1] + '/svc-agent-hook claude UserPromptSubmit; true'], { input: process.argv[2] }); setInterval(() => {}, 1000)`,
      machine.dataDir,
      text,
    ],
    { stdio: 'ignore' },
  );
  onTestFinished(() => void agent.kill('SIGKILL'));
  expect(await untilState('s', 'running')).toMatchObject({ pid: agent.pid, known: 'hook' });
  agent.kill('SIGKILL');
  expect(await untilState('s', 'ended')).toMatchObject({ known: 'process', reason: 'its process has ended' });
});

test('reports in the wrong order give the same state', async () => {
  const { home, machine, url, session } = await hookWorld();
  const folder = repository(home, 'web', 'main');
  const token = readFileSync(join(machine.dataDir, 'hook-token'), 'utf8').trim();
  const uptime = Number(process.hrtime.bigint()) / 1e6;
  const report = async (event: string, agoMs: number, more: object = {}): Promise<number> => {
    const body = { agent: 'claude', event, session: 's', folder, at: uptime - agoMs, ...more };
    const answer = await fetch(`${url()}/api/hooks/report`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Svc-Hook-Token': token },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  const tool = { tool: 'Bash', call: 'x' };
  expect(await report('UserPromptSubmit', 9_000)).toBe(200);
  expect(await report('PostToolUse', 3_000, tool)).toBe(200);
  // It was asked before, and arrives now.
  expect(await report('PermissionRequest', 5_000, tool)).toBe(200);
  expect((await session('s'))?.state).toBe('running');
  expect(await report('Stop', 1_000)).toBe(200);
  expect(await report('UserPromptSubmit', 2_000)).toBe(200);
  expect((await session('s'))?.state).toBe('idle');
  // A clock that is ahead does not hide what comes later.
  expect(await report('UserPromptSubmit', -3_600_000)).toBe(200);
  expect((await session('s'))?.state).toBe('running');
});

test('only hooks with the token of the file are heard; a new token counts at once', async () => {
  const { home, machine, hook, url, board, untilState } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main') };
  const post = async (token: string, body: object): Promise<number> =>
    (
      await fetch(`${url()}/api/hooks/report`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Svc-Hook-Token': token },
        body: JSON.stringify(body),
      })
    ).status;
  const file = join(machine.dataDir, 'hook-token');
  const token = readFileSync(file, 'utf8').trim();
  const report = { agent: 'claude', event: 'Stop', session: 's', folder: '/x', at: 0 };
  expect(await post('', report)).toBe(401);
  expect(await post(`${token}x`, report)).toBe(401);
  expect(await post(token, { ...report, folder: 'relative' })).toBe(400);
  expect(await post(token, { ...report, prompt: 'x' })).toBe(400);
  writeFileSync(file, 'another\n');
  expect(await post(token, report)).toBe(401);
  expect((await board()).sessions).toEqual([]);
  await hook('claude', 'UserPromptSubmit', of);
  await untilState('s', 'running');
  rmSync(file);
  expect(await post('', report)).toBe(401);
  expect(await post('undefined', report)).toBe(401);
  expect((await hook('claude', 'Stop', of)).code).toBe(0);
  mkdirSync(file);
  const answer = await fetch(`${url()}/api/hooks/report`, { method: 'POST' });
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({
    code: 'file-unusable',
    error: expect.stringContaining(file) as string,
    remedy: 'Make it a file or folder that you can read and write, then try again.',
  });
});

test('too many reports are refused, and the log gets only changes', async () => {
  const { machine, url, board } = await hookWorld();
  const token = readFileSync(join(machine.dataDir, 'hook-token'), 'utf8').trim();
  const before = (await board()).seq;
  const statuses = await Promise.all(
    Array.from({ length: 600 }, async () => {
      const answer = await fetch(`${url()}/api/hooks/report`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Svc-Hook-Token': token },
        body: JSON.stringify({
          agent: 'claude',
          event: 'PostToolUse',
          session: 's',
          folder: '/',
          at: 1,
          tool: 'Bash',
        }),
      });
      return answer.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect((await board()).seq).toBe(before + 1);
});

test('an agent that svc runs, and one whose svc is gone, are not reported; Gemini gets its JSON', async () => {
  const { home, machine, hook, board } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main') };
  expect(await hook('gemini', 'BeforeAgent', of, { SVC_TICKET: 'ABC-1' })).toMatchObject({
    code: 0,
    printed: '{}\n',
  });
  await writeHookScript(machine, [process.execPath, join(home, 'gone.js')]);
  const large = { ...of, tool_response: 'x'.repeat(300_000) };
  expect(await hook('copilot', 'postToolUse', large)).toMatchObject({ code: 0, printed: '' });
  expect((await board()).sessions).toEqual([]);
});

test('a request that was rejected without a report is unknown, as the transcript shows', async () => {
  const { home, hook, untilState, board } = await hookWorld();
  const transcript = join(home, 'transcript.jsonl');
  writeFileSync(transcript, '{"text":"[Request interrupted by user]"}\n');
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), transcript_path: transcript };
  await hook('claude', 'PermissionRequest', { ...of, ...asked });
  await untilState('s', 'needs-permission');
  await until(async () => (await board()).attention.length === 1);
  appendFileSync(transcript, '{"text":"[Request interrupted by user for tool use]"}\n');
  expect(await untilState('s', 'unknown')).toMatchObject({ reason: expect.stringContaining('interrupted') });
  await until(async () => (await board()).attention.length === 0);
  await hook('claude', 'UserPromptSubmit', of);
  await untilState('s', 'running');
});

test('while a command that was allowed runs, the session is not shown as waiting', async () => {
  const { home, machine, untilState } = await hookWorld();
  const cwd = repository(home, 'web', 'main');
  const text = JSON.stringify({ session_id: 's', cwd, ...asked });
  const script = `
    const { spawn, spawnSync } = require('child_process');
    const [, hook, input] = process.argv;
    spawnSync('sh', ['-c', hook + ' claude PermissionRequest; true'], { input });
    process.on('message', () => spawn('sleep', ['600']).on('exit', () => undefined));
    process.on('disconnect', () => process.exit());`;
  const agent = spawn(process.execPath, ['-e', script, join(machine.dataDir, 'svc-agent-hook'), text], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  onTestFinished(() => void process.kill(-Number(agent.pid), 'SIGKILL'));
  await untilState('s', 'needs-permission');
  agent.send('allowed');
  expect(await untilState('s', 'unknown')).toMatchObject({ reason: expect.stringContaining('program') });
});

const decision = (given: object): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: given } });

test('with the switch on, a person answers through svc: allowed and rejected, once, and it is in the log', async () => {
  const { home, asks, board, svc, untilState, hook, log } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
  const first = await asks(of);
  expect(first.request).toMatchObject({ title: 'Bash', command: asked.tool_input.command });
  await until(async () => (await board()).attention[0]?.remedy?.includes('svc agent answer claude/s allow'));
  expect(await svc('board')).toMatch(
    /asks for permission: Bash[^]*rm -rf[^]*svc agent answer claude\/s allow/,
  );
  expect(await svc('agent', 'answer', 'claude/s')).toContain('rm -rf /tmp/secret-text');
  expect(await svc('agent', 'answer', 'claude/s', 'allow_always', '--confirm')).toContain(
    'Use: allow, reject',
  );
  expect(await svc('agent', 'answer', 'claude/s', 'allow')).toContain('Answered allow_once: rm -rf');
  expect(await first.answered).toEqual({ code: 0, printed: decision({ behavior: 'allow' }) });
  expect(await untilState('s', 'running')).toMatchObject({ known: 'hook', open: [] });
  await until(async () => (await board()).attention.length === 0);
  expect(await svc('agent', 'answer', 'claude/s', 'reject')).toContain('no open request');
  // The same command again: what was answered before does not count for it.
  await hook('claude', 'PostToolUse', of);
  const second = await asks(of);
  expect(second.request.request).not.toBe(first.request.request);
  await svc('agent', 'answer', 'claude/s', 'reject');
  expect(JSON.parse((await second.answered).printed)).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'deny' } },
  });
  const answers = log()
    .split('\n')
    .filter((line) => line.includes('"session.answered"'))
    .map((line) => (JSON.parse(line) as { detail: object }).detail);
  expect(answers).toMatchObject([
    { request: first.request.request, tool: 'Bash', answer: 'allow_once', by: expect.any(String) },
    { request: second.request.request, answer: 'reject_once' },
  ]);
});

test('of several answers at once only one counts', async () => {
  const { home, asks, post } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
  const { answered, request } = await asks(of);
  const answer = (given: string, session = 'claude/s') =>
    post('/api/sessions/answer', { session, request: request.request, answer: given });
  expect((await answer('allow_once', 'claude/other')).status).toBe(409);
  expect((await answer('allow_always')).status).toBe(400);
  const results = await Promise.all(['reject_once', 'allow_once', 'allow_once'].map((one) => answer(one)));
  const [won, ...more] = results.filter(({ status }) => status === 200);
  expect(more).toEqual([]);
  expect(results.filter(({ status }) => status === 409)).toHaveLength(2);
  expect((await answered).printed).toContain(won?.body['answered'] === 'allow_once' ? '"allow"' : '"deny"');
  const late = await answer('allow_once');
  expect(late).toMatchObject({ status: 409, body: { remedy: expect.stringContaining('terminal') } });
});

test('without the switch a request can only be answered at the terminal', async () => {
  const { home, hook, untilState, svc, log } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
  expect(await hook('claude', 'PermissionRequest', of)).toEqual({ code: 0, printed: '' });
  expect(await untilState('s', 'needs-permission')).toMatchObject({ open: [] });
  expect(await svc('agent', 'answer', 'claude/s', 'allow')).toMatch(/no open request[^]*terminal/);
  expect(log()).not.toContain('session.answered');
});

test('answered at the terminal first: no decision, and the request is closed', async () => {
  const { home, hook, asks, session, untilState, svc } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
  const allowed = await asks(of);
  await hook('claude', 'PostToolUse', of);
  expect(await allowed.answered).toEqual({ code: 0, printed: '' });
  expect(await untilState('s', 'running')).toMatchObject({ open: [] });
  expect(await svc('agent', 'answer', 'claude/s', 'allow')).toContain('no open request');
  // Rejected: the agent ends its hook, and reports nothing.
  (await asks(of)).kill();
  await until(async () => (await session('s'))?.open.length === 0);
});

test('a daemon that stops while a hook waits: no decision', async () => {
  const { home, asks, restart, untilState } = await hookWorld();
  const { answered } = await asks({ session_id: 's', cwd: repository(home, 'web', 'main'), ...asked });
  await restart();
  expect(await answered).toEqual({ code: 0, printed: '' });
  expect(await untilState('s', 'unknown')).toMatchObject({ open: [] });
});

/** Whatever listens on the port is the daemon of the data root, as far as its files show. */
async function announce(dataDir: string, port: number): Promise<void> {
  const claimed = claimInstance(dataDir);
  onTestFinished(() => claimed?.withdraw());
  await claimed?.announce({
    state: 'running',
    instance: 'x',
    pid: process.pid,
    port,
    url: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    startedAt: new Date().toISOString(),
  });
}

// Only root can start a program of another user.
test.skipIf(process.geteuid?.() !== 0)('a program of another user on that port is not asked', async () => {
  const program = `
    const server = require('http').createServer((_, response) => response.end('{"answer":"allow_once"}'));
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  for (const uid of [65_534, 0]) {
    const { home, machine, hook, stop } = await hookWorld();
    await stop();
    const other = spawn(process.execPath, ['-e', program], { uid, cwd: '/', env: {} });
    onTestFinished(() => void other.kill('SIGKILL'));
    const [port] = (await once(other.stdout, 'data')) as [Buffer];
    await announce(machine.dataDir, Number(port));
    const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
    const { printed } = await hook('claude', 'PermissionRequest answer', of);
    expect(printed, `uid ${uid}`).toBe(uid === 0 ? decision({ behavior: 'allow' }) : '');
  }
});

test('whatever a daemon answers that is not the answer of a person: no decision', async () => {
  const { home, machine, hook, stop } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), ...asked };
  const ask = () => hook('claude', 'PermissionRequest answer', of);
  await stop();
  expect(await ask()).toEqual({ code: 0, printed: '' });
  let reply = '';
  const http = (status: number, body: string, length = body.length): string =>
    `HTTP/1.1 ${status} X\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
  const server = createServer((socket) => socket.once('data', () => socket.end(reply)));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  onTestFinished(() => void server.close());
  await announce(machine.dataDir, port);
  const good = '{"answer":"allow_once"}';
  const replies = {
    'killed before it answers': '',
    'killed while it answers': http(200, good, 100),
    'an error': http(401, good),
    'nobody answered': http(200, '{"answer":null}'),
    'not JSON': http(200, 'allow_once'),
    'too much': http(200, `${' '.repeat(20_000)}${good}`),
  };
  for (const [name, text] of Object.entries(replies)) {
    reply = text;
    expect(await ask(), name).toEqual({ code: 0, printed: '' });
  }
  // The way in which all of these would be noticed.
  reply = http(200, good);
  expect((await ask()).printed).toBe(decision({ behavior: 'allow' }));
});

test('what a person could not see as a whole, and what is not a request, is not offered', async () => {
  const { home, hook, post, session, untilState } = await hookWorld();
  const of = { session_id: 's', cwd: repository(home, 'web', 'main'), tool_name: 'Bash' };
  const long = { ...of, tool_input: { command: `echo ${'x'.repeat(4_000)}; rm -rf /` } };
  await hook('claude', 'PermissionRequest', long);
  expect(await hook('claude', 'PermissionRequest answer', long)).toEqual({ code: 0, printed: '' });
  expect(await untilState('s', 'needs-permission')).toMatchObject({ open: [] });
  const ask = { agent: 'claude', session: 's', tool: 'Bash', call: 'x', input: '{}' };
  expect((await post('/api/hooks/ask', ask, 'wrong')).status).toBe(401);
  for (const wrong of [
    { input: 'x'.repeat(4_001) },
    { tool: 'x'.repeat(201) },
    { session: '../x' },
    { agent: 'codex' },
    { answer: 'allow_once' },
  ])
    expect((await post('/api/hooks/ask', { ...ask, ...wrong })).status, JSON.stringify(wrong)).toBe(400);
  let refused = 0;
  for (let count = 0; count < 60; count += 1)
    void post('/api/hooks/ask', ask).then(({ status }) => (refused += status === 429 ? 1 : 0));
  await until(() => refused === 10);
  // None of them was reported as a request of this session.
  expect((await session('s'))?.open).toEqual([]);
});
