import { emptyBoard, foldLine, type HookReport } from '@svc/core';
import { until } from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ReadProcessStarts } from '../runs/processes.ts';
import { createHookSessions } from './sessions.ts';

/** Sessions on a board of their own, with a clock and processes that the test sets. */
function world() {
  const board = emptyBoard();
  let uptime = 1_000_000;
  let isAlive = true;
  const processStarts: ReadProcessStarts = async (pids) =>
    new Map(
      pids.map((pid) => [
        pid,
        isAlive ? { state: 'running', startedAt: 0, mark: 'first' } : { state: 'gone' },
      ]),
    );
  const sessions = createHookSessions({
    state: {
      board: () => board,
      ready: Promise.resolve(),
      reached: async () => undefined,
      progress: () => ({ ready: true, seq: board.seq, logSeq: board.seq }),
    },
    append: async (draft) => {
      const seq = board.seq + 1;
      foldLine(board, { ...draft, seq, ts: new Date(seq * 1000).toISOString() });
      return { seq };
    },
    processStarts,
    logger: pino({ enabled: false }),
    uptimeMs: () => uptime,
    everyMs: 10,
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
