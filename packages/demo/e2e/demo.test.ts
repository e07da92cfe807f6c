// svc demo from start to end, and every way to end it early.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until, untilHolds } from '@svc/testkit';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { boardView } from 'svc-monitor/src/features/board/board-view.ts';
import { emptyBoard, foldLine } from 'svc-monitor/src/features/board.ts';
import { isPreMerge } from 'svc-monitor/src/features/workers/status-groups.ts';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { describe, expect, it, test } from 'vitest';
import { demoPidIn, groupIsAlive, homesIn, startDemo, startDemoAtTerminal } from './demo-process.ts';

const EXHAUSTED = 'run-guest-berths/TID-106/deploy-budget-exhausted';

type Board = Pick<BoardView, 'workers' | 'attention'>;

/** Reads the log until the demo ends; returns every state by ticket, and every attention item. */
async function watch(url: string, onBoard: (board: Board) => Promise<void> = () => Promise.resolve()) {
  const states = new Map<string, Set<Board['workers'][number]['status']>>();
  const items = new Set<string>();
  const board = emptyBoard();
  for await (const line of linesOf(url)) {
    foldLine(board, line);
    const view = boardView(board, { all: true });
    for (const { ticket, status } of view.workers)
      states.set(ticket, (states.get(ticket) ?? new Set()).add(status));
    for (const { id } of view.attention) items.add(id);
    await onBoard(view);
  }
  return { states, items };
}

/** All events from the first one until the daemon ends. */
async function* linesOf(url: string): AsyncGenerator<EventLine> {
  const { body } = await fetch(`${url}/api/events/stream`, { headers: { 'last-event-id': '0' } });
  if (body === null) throw new Error('the daemon has no stream');
  let text = '';
  try {
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      const frames = (text + part).split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^id: .*\ndata: (.*)$/.exec(frame)?.[1];
        if (data !== undefined) yield JSON.parse(data) as EventLine;
      }
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The connection ends with the daemon.
  }
}

function acknowledgeOnce(url: string): (board: Board) => Promise<void> {
  let isDone = false;
  return async ({ attention }) => {
    if (isDone || !attention.some(({ id }) => id === EXHAUSTED)) return;
    isDone = true;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ id: EXHAUSTED, by: 'you' });
    // The event may arrive before the daemon's board has it.
    await untilHolds(async () => {
      const response = await fetch(`${url}/api/attention/ack`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
    });
  };
}

describe('two demos at once', () => {
  it('play their days, one of them with a person', async () => {
    const temporary = temporaryFolder();
    const home = temporaryFolder();
    const alone = startDemo({ temporary, home, words: ['--minutes', '0.2', '--exit'] });
    const attended = startDemo({ temporary, home, words: ['--minutes', '0.2', '--exit'] });
    const urls = [await alone.url(), await attended.url()] as const;
    expect(urls[0]).not.toBe(urls[1]);
    const page = await fetch(urls[0]);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(homesIn(temporary)).toHaveLength(2);

    const [unseen, seen] = await Promise.all([watch(urls[0]), watch(urls[1], acknowledgeOnce(urls[1]))]);
    expect([await alone.ended, await attended.ended], alone.printed() + attended.printed()).toEqual([0, 0]);

    // Cards move through the columns. What an agent reports may be replaced before a slow daemon has read it; what the
    // code host delivers is in the log.
    const [one, other] = [
      [...(unseen.states.get('TID-112') ?? [])],
      [...(unseen.states.get('TID-104') ?? [])],
    ];
    expect(one).toEqual(expect.arrayContaining(['merged', 'deploying', 'deploy-failed', 'done']));
    expect(other).toEqual(expect.arrayContaining(['merged', 'deploying']));
    expect([one.some(isPreMerge), other.some(isPreMerge)]).toEqual([true, true]);
    expect(unseen.states.size).toBeGreaterThanOrEqual(12);
    expect(unseen.items).toContain(EXHAUSTED);
    expect(unseen.states.get('TID-106')).not.toContain('done');
    expect(alone.printed()).toContain('TID-106 is still waiting for you');
    // The day continued with the person's decision.
    expect([...(seen.states.get('TID-106') ?? [])].at(-1)).toBe('done');
    expect(attended.printed()).toContain('TID-106 is in production: done.');
    expect(attended.printed()).not.toContain('still waiting for you');
    for (const demo of [alone, attended]) {
      expect(demo.printed().split('\n')[0]).toMatch(/^Dashboard: http/);
      for (const words of ['09:00  ', '11:27  TID-106 needs you', '17:30  The day is over', 'bin/svc init'])
        expect(demo.printed()).toContain(words);
      await expect.poll(() => groupIsAlive(demo.pid)).toBe(false);
    }
    expect(homesIn(temporary)).toEqual([]);
  });
});

it('keeps the board open after the day, until Enter', async () => {
  const temporary = temporaryFolder();
  const demo = startDemoAtTerminal({ temporary, home: temporaryFolder(), words: ['--minutes', '0.02'] });
  const url = await demo.url();
  expect(demo.printed()).toContain('The board stays open afterwards.');
  await expect.poll(demo.printed).toContain(`The board stays open: ${url}`);
  expect(demo.printed()).toContain('Enter or Ctrl-C ends the demo and removes everything.');
  expect(demo.printed()).not.toContain('svc init');
  expect((await fetch(url)).status).toBe(200);
  demo.press('\r');
  expect(await demo.ended, demo.printed()).toBe(0);
  expect(demo.printed()).toMatch(/Ended\. Everything was removed\.\s+To use svc .*\s+\S*svc init\s*$/);
  expect(demo.printed().match(/svc init/g)).toHaveLength(1);
  expect(homesIn(temporary)).toEqual([]);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

type Health = {
  pid: number;
  sources: { tunnels: { grade: string }[]; codehost: { state: string }; tracker: { state: string } };
};

const readEnvironment = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);

test.each<[name: string, end: (demo: ReturnType<typeof startDemo>) => void, code: number | string]>([
  ['Ctrl-C', (demo) => demo.signalGroup('SIGINT'), 130],
  ['SIGTERM of the verb', ({ pid }) => process.kill(pid, 'SIGTERM'), 143],
  ['a closed terminal', (demo) => demo.signalGroup('SIGHUP'), 129],
  ['kill -9 of the verb', ({ pid }) => process.kill(pid, 'SIGKILL'), 'SIGKILL'],
])('%s in the middle leaves nothing', async (_, end, code) => {
  const temporary = temporaryFolder();
  const demo = startDemo({ temporary, home: temporaryFolder(), words: ['--minutes', '3'] });
  const url = await demo.url();
  const { pid } = (await (await fetch(`${url}/api/health`)).json()) as Health;
  if (process.platform === 'linux') {
    // No token or proxy of this machine.
    const names = readEnvironment(pid).map((variable) => variable.split('=')[0]);
    expect(names.filter((name) => /TOKEN|PROXY/i.test(name ?? ''))).toEqual([]);
    expect(readEnvironment(pid)).toContainEqual(expect.stringMatching(/^PATH=.*\/svc-demo-\w+\/bin$/));
  }
  await expect.poll(demo.printed).toContain('09:00  ');
  // Every component that the demo sets up is healthy.
  await untilHolds(async () => {
    const { sources } = (await (await fetch(`${url}/api/health`)).json()) as Health;
    expect(sources.tunnels.map(({ grade }) => grade)).toEqual(['live', 'live']);
    expect(sources.codehost.state).not.toBe('failing');
    expect(sources.tracker.state).toBe('polling');
  });
  const report = await fetch(`${url}/api/doctor/run`, { method: 'POST' });
  const { findings } = (await report.json()) as { findings: { grade: string; what: string }[] };
  expect(findings.length).toBeGreaterThan(20);
  expect(findings.filter(({ grade }) => grade !== 'ok')).toEqual([]);
  end(demo);
  expect(await demo.ended, demo.printed()).toBe(code);
  await expect.poll(() => groupIsAlive(demo.pid)).toBe(false);
  expect(homesIn(temporary)).toEqual([]);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

it('leaves nothing when it is ended before it has started', async () => {
  const temporary = temporaryFolder();
  const demo = startDemo({ temporary, home: temporaryFolder(), words: [] });
  await expect.poll(() => homesIn(temporary)).toHaveLength(1);
  demo.signalGroup('SIGINT');
  expect(await demo.ended, demo.printed()).toBe(130);
  expect(demo.printed()).toBe('Ended. Everything was removed.\n');
  await expect.poll(() => groupIsAlive(demo.pid)).toBe(false);
  expect(homesIn(temporary)).toEqual([]);
});

it('leaves nothing when Ctrl-C ends the git that it waits for', async () => {
  const [temporary, programs] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(programs, 'git'), '#!/bin/sh\nkill -INT 0\n', { mode: 0o755 });
  const demo = startDemo({
    temporary,
    home: temporaryFolder(),
    words: [],
    path: `${programs}:${process.env['PATH']}`,
  });
  expect(await demo.ended, demo.printed()).toBe(130);
  expect(demo.printed()).toBe('Ended. Everything was removed.\n');
  expect(homesIn(temporary)).toEqual([]);
});

it('removes the leftovers of a killed demo, including its daemon', async () => {
  const temporary = temporaryFolder();
  const home = temporaryFolder();
  const killed = startDemo({ temporary, home, words: [] });
  const left = await killed.url();
  process.kill(killed.pid, 'SIGKILL');
  process.kill(demoPidIn(temporary), 'SIGKILL');
  await killed.ended;
  await until(async () => (await fetch(left)).status === 200);
  expect(homesIn(temporary)).toHaveLength(1);

  const next = startDemo({ temporary, home, words: [] });
  await next.url();
  await expect.poll(next.printed).toContain('An earlier demo was killed');
  await expect(fetch(left)).rejects.toThrow('fetch failed');
  expect(homesIn(temporary)).toHaveLength(1);
  process.kill(next.pid, 'SIGTERM');
  await next.ended;
  await expect.poll(() => groupIsAlive(killed.pid)).toBe(false);
  expect(homesIn(temporary)).toEqual([]);
});

it('reports when the port is in use', async () => {
  const temporary = temporaryFolder();
  const home = temporaryFolder();
  const first = startDemo({ temporary, home, words: [] });
  const { port } = new URL(await first.url());
  const second = startDemo({ temporary, home, words: ['--port', port] });
  expect(await second.ended).toBe(6);
  expect(second.printed()).toContain(`Port ${port} is in use`);
  process.kill(first.pid, 'SIGTERM');
  expect(await first.ended).toBe(143);
  expect(homesIn(temporary)).toEqual([]);
});
