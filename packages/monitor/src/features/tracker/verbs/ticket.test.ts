import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testTerminal } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { claimInstance } from '../../../kernel/instance/instance.ts';

/** A worktree with its own data root; in it the verb is run. */
function worktree(name = 'ABC-12-login') {
  const terminal = testTerminal();
  const root = join(terminal.home, name);
  mkdirSync(join(root, '.git'), { recursive: true });
  const inside = { ...terminal, folder: root };
  const dataDir = join(terminal.home, 'svc');
  mkdirSync(dataDir, { recursive: true });
  return {
    terminal,
    dataDir,
    run: (...words: string[]) => runCommandLine(inside, ['ticket', ...words]),
    setTicket: (ticket: string) =>
      runCommandLine({ ...inside, out: () => undefined }, ['context', 'set-ticket', ticket]),
  };
}

/** Something that answers as the daemon of a data root would. */
async function daemonAt(dataDir: string, answer: object, status = 200) {
  const asked: { url: string | undefined; body: unknown }[] = [];
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/api/health') return void response.end(JSON.stringify(identity()));
    asked.push({ url: request.url, body: JSON.parse(await text(request)) });
    response.writeHead(status).end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const identity = () => ({
    instance: '00000000-0000-4000-8000-000000000001',
    pid: 4321,
    port,
    url: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    startedAt: '2026-01-02T03:04:05.678Z',
  });
  const instance = claimInstance(dataDir);
  onTestFinished(() => instance?.withdraw());
  await instance?.announce({ state: 'running', ...identity() });
  return asked;
}

const moved = {
  ticket: 'ABC-12',
  phase: 'inReview',
  outcome: 'moved',
  from: 'In Progress',
  to: 'In Review',
  why: 'its phase is inReview',
  remedy: null,
};

describe('with the daemon', () => {
  test.each([
    ['moved', moved, 0, 'ABC-12 was moved from In Progress to In Review.', ''],
    [
      'there already',
      { ...moved, outcome: 'already' },
      0,
      'ABC-12 is already in In Review; nothing was moved.',
      '',
    ],
    [
      'skipped by null',
      { ...moved, outcome: 'skipped', why: 'svc.tracker.stateMap.inReview is null' },
      0,
      'ABC-12 was not moved: svc.tracker.stateMap.inReview is null.',
      '',
    ],
    [
      'skipped for want of a token',
      { ...moved, outcome: 'skipped', why: 'there is no token', remedy: 'Store one.' },
      1,
      'ABC-12 was not moved: there is no token.',
      'Store one.',
    ],
    [
      'pending',
      { ...moved, outcome: 'pending', why: 'It is down.' },
      0,
      'ABC-12 was reported as inReview but not moved yet: It is down.',
      '',
    ],
  ])('%s', async (_, answer, code, printed, complained) => {
    const { terminal, dataDir, run } = worktree();
    const asked = await daemonAt(dataDir, answer);
    expect(await run('phase', 'create-pr', 'abc-12')).toBe(code);
    expect(asked).toEqual([{ url: '/api/tickets/ABC-12/phase', body: { phase: 'create-pr' } }]);
    expect(terminal.printed()).toBe(printed);
    expect(terminal.complained()).toBe(complained);
  });

  test('the answer as JSON', async () => {
    const { terminal, dataDir, run } = worktree();
    await daemonAt(dataDir, moved);
    expect(await run('phase', 'inReview', 'ABC-12', '--json')).toBe(0);
    expect(JSON.parse(terminal.printed())).toEqual(moved);
  });

  test('an error of the daemon is shown with its remedy', async () => {
    const { terminal, dataDir, run } = worktree();
    await daemonAt(
      dataDir,
      { error: 'No such ticket.', code: 'tracker-error', remedy: 'Name another.' },
      502,
    );
    expect(await run('phase', 'done', 'ABC-12')).toBe(6);
    expect(terminal.complained()).toContain('No such ticket.');
    expect(terminal.complained()).toContain('Name another.');
  });

  test('the ticket is that of the worktree', async () => {
    const { dataDir, run, setTicket } = worktree();
    const asked = await daemonAt(dataDir, moved);
    await setTicket('ABC-7');
    expect(await run('phase', 'done')).toBe(0);
    expect(asked[0]?.url).toBe('/api/tickets/ABC-7/phase');
  });
});

test('without the daemon the fact waits in the spool, and the output shows that', async () => {
  const { terminal, dataDir, run } = worktree();
  expect(await run('phase', 'create-plan', 'ABC-12')).toBe(0);
  expect(terminal.printed()).toBe(
    'ABC-12 was reported as planning but not moved yet: the daemon is not running, and moves the ticket when it starts (svc monitor start).',
  );
  const [name = ''] = readdirSync(join(dataDir, 'spool'));
  expect(JSON.parse(readFileSync(join(dataDir, 'spool', name), 'utf8'))).toEqual({
    event: 'workflow.ticket.phase_changed',
    source: 'cli',
    via: 'local',
    scope: { ticket: 'ABC-12' },
    detail: { to: 'planning', skill: 'create-plan' },
  });
});

describe('usage', () => {
  test.each([
    ['a slip', ['phase', 'inreveiw', 'ABC-12'], 'did you mean inReview?'],
    ['no phase', ['phase'], 'missing required argument'],
    ['no ticket', ['phase', 'done'], 'No ticket was given'],
    ['no ticket name', ['phase', 'done', 'login page'], 'like ABC-12'],
  ])('%s', async (_, words, message) => {
    const { terminal, dataDir, run } = worktree('login');
    expect(await run(...words)).toBe(2);
    expect(terminal.complained()).toContain(message);
    expect(readdirSync(dataDir)).not.toContain('spool');
  });
});
