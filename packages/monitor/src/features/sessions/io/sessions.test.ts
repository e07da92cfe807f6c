import type { ReadProcessStarts } from '@svc/lib/system';
import { until } from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { emptyBoard, foldLine } from '../../board.ts';
import type { HookReport } from '../hooks.ts';
import { createHookSessions } from './sessions.ts';

/** Sessions on a board of their own, with a clock and processes that the test sets. */
function world(answerWithinMs = 60_000) {
  const board = emptyBoard();
  let uptime = 1_000_000;
  let isAlive = true;
  let isBroken = false;
  let isFull = false;
  let onLookup = async (): Promise<void> => undefined;
  const processStarts: ReadProcessStarts = async (pids) => {
    if (isBroken) throw new Error('ps cannot be started');
    await onLookup();
    return new Map(
      pids.map((pid) => [
        pid,
        isAlive ? { state: 'running', startedAt: 0, mark: 'first' } : { state: 'gone' },
      ]),
    );
  };
  const sessions = createHookSessions({
    state: {
      board: () => board,
      ready: Promise.resolve(),
      reached: async () => undefined,
      progress: () => ({ ready: true, seq: board.seq, logSeq: board.seq }),
    },
    append: async (draft) => {
      if (isFull) throw new Error('no space left');
      const seq = board.seq + 1;
      foldLine(board, { ...draft, seq, ts: new Date(seq * 1000).toISOString() });
      return { seq };
    },
    processStarts,
    logger: pino({ enabled: false }),
    uptimeMs: () => uptime,
    everyMs: 10,
    answerWithinMs,
  });
  sessions.start();
  onTestFinished(sessions.stop);
  return {
    board,
    shown: () => board.sessions.get('claude/s'),
    report: (event: string, more: Partial<HookReport> = {}) =>
      sessions.take({ agent: 'claude', event, session: 's', folder: '/', at: uptime, pid: 7, ...more }),
    pass: (milliseconds: number) => void (uptime += milliseconds),
    end: () => void (isAlive = false),
    break: (isIt: boolean) => void (isBroken = isIt),
    /** The next lookup of processes waits for the returned function; `reached` when it waits. */
    holdLookup: () => {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      onLookup = () => {
        reached.resolve();
        return released.promise;
      };
      return { reached: reached.promise, release: released.resolve };
    },
    fill: (isIt: boolean) => void (isFull = isIt),
    sessions,
    ask: (signal = new AbortController().signal) =>
      sessions.ask(
        { agent: 'claude', session: 's', tool: 'Bash', call: 'x', input: '{"command":"ls"}' },
        signal,
      ),
  };
}

const HOUR = 3_600_000;

test('a session that was not heard of for an hour is unknown, also if it was idle', async () => {
  const { report, shown, pass } = world();
  await report('Stop');
  pass(HOUR - 1);
  await report('Notification', { kind: 'other' });
  expect(shown()?.state).toBe('idle');
  pass(HOUR - 1);
  expect(shown()?.state).toBe('idle');
  pass(2);
  await until(() => shown()?.state === 'unknown');
  expect(shown()).toMatchObject({ known: 'unknown', reason: 'nothing was heard of it for 60 minutes' });
  await report('UserPromptSubmit');
  expect(shown()).toMatchObject({ state: 'running', known: 'hook', reason: null });
});

test('a report that arrives after the end of the process or of the session changes nothing', async () => {
  const { report, shown, pass, end, board } = world();
  await report('UserPromptSubmit');
  end();
  await until(() => shown()?.state === 'ended');
  expect(shown()?.known).toBe('process');
  const { seq } = board;
  await report('PostToolUse', { tool: 'Bash' });
  expect(board.seq).toBe(seq);
  pass(1_000);
  await report('SessionEnd');
  await report('PermissionRequest', { tool: 'Bash', at: 999_000 });
  expect(shown()?.state).toBe('ended');
});

test('what does not change the state is not an event', async () => {
  const { report, board, pass } = world();
  await report('UserPromptSubmit');
  const { seq } = board;
  for (let tool = 0; tool < 20; tool += 1) {
    pass(100);
    await report('PostToolUse', { tool: 'Bash', call: String(tool) });
  }
  expect(board.seq).toBe(seq);
});

test('nobody answers in time: no decision, and the request is only at the terminal', async () => {
  const { report, ask, shown } = world(2_000);
  const asked = ask();
  await report('PermissionRequest', { tool: 'Bash', call: 'x' });
  expect(shown()).toMatchObject({ state: 'needs-permission', open: [{ title: 'Bash', command: 'ls' }] });
  expect(await asked).toBeNull();
  await until(() => shown()?.open.length === 0);
  expect(shown()).toMatchObject({ state: 'needs-permission', known: 'hook' });
});

test('an answer that cannot be logged is not given', async () => {
  const { report, ask, shown, sessions, fill } = world();
  await report('PermissionRequest', { tool: 'Bash', call: 'x' });
  const asked = ask();
  const { request } = await until(() => shown()?.open[0]);
  fill(true);
  const given = {
    session: 'claude/s',
    request,
    answer: 'allow_once',
    by: 'kim',
  } as const;
  await expect(sessions.answer(given)).rejects.toThrow('no space left');
  expect(await asked).toBeNull();
  fill(false);
  await expect(sessions.answer(given)).rejects.toThrow('is not open');
});

test('what prevents a check is a problem until a check succeeds', async () => {
  const { report, sessions, break: setBroken } = world();
  await report('UserPromptSubmit');
  expect(sessions.problem()).toBeNull();
  setBroken(true);
  await until(() => sessions.problem() === 'ps cannot be started');
  setBroken(false);
  await until(() => sessions.problem() === null);
});

test('a hook that asks while its report is taken can be answered, and one that leaves cannot', async () => {
  const { report, ask, shown, holdLookup } = world();
  const lookup = holdLookup();
  const reported = report('PermissionRequest', { tool: 'Bash', call: 'x' });
  await lookup.reached;
  const left = new AbortController();
  void ask(left.signal);
  lookup.release();
  await reported;
  await until(() => shown()?.open.length === 1);
  const again = holdLookup();
  const other = report('PermissionRequest', { tool: 'Edit', call: 'y' });
  await again.reached;
  left.abort();
  again.release();
  await other;
  await until(() => shown()?.open.length === 0);
});
