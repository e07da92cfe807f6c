import { type Dependencies, emptyBoard, resolveConfig } from '@svc/core';
import { expect, test } from 'vitest';
import { beginRun, planByDependencies, type RunWish } from './begin-run.ts';

import type { RunProject } from './run-project.ts';

const folder = import.meta.dirname;
const wish: RunWish = { project: folder, plan: { tickets: ['ABC-2', 'ABC-1'] }, name: 'run-1', by: 'kim' };

const told = (...blocked: [string, string[]][]): Dependencies => ({
  tickets: blocked.map(([ticket, blockedBy]) => ({ ticket, blockedBy })),
  outside: [{ ticket: 'ABC-1', blocker: 'ABC-9', state: 'Todo' }],
  unknown: [],
});

async function begun(given: RunWish) {
  const { config } = resolveConfig([], {});
  const projects = {
    of: async () =>
      ({
        config,
        problems: [],
        worktrees: { base: async () => '/base' },
        checkAgent: async () => undefined,
      }) as unknown as RunProject,
  };
  return beginRun({ wish: given, board: emptyBoard(), projects, now: new Date(0) });
}

test('the waves are those of the tracker, and what is outside is handed on', async () => {
  const asked: unknown[] = [];
  const planned = await planByDependencies(wish, async (...question) => {
    asked.push(question);
    return told(['ABC-2', ['ABC-1']], ['ABC-1', []]);
  });
  expect(asked).toEqual([[folder, ['ABC-2', 'ABC-1']]]);
  expect(planned.outside).toEqual([{ ticket: 'ABC-1', blocker: 'ABC-9', state: 'Todo' }]);
  expect((await begun(planned.wish)).detail).toMatchObject({ plan: [['ABC-1'], ['ABC-2']], waves: 2 });
});

test('a circle begins nothing', async () => {
  const planned = await planByDependencies(wish, async () =>
    told(['ABC-2', ['ABC-1']], ['ABC-1', ['ABC-2']]),
  );
  await expect(begun(planned.wish)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('in a circle: ABC-2 → ABC-1 → ABC-2'),
  });
});

test('what is no list of tickets is not asked about', async () => {
  const ask = (): never => {
    throw new Error('It was asked');
  };
  const plan = { file: { tickets: ['ABC-1', '../x', 'ABC-1'] } };
  await expect(planByDependencies({ ...wish, plan }, ask)).rejects.toMatchObject({ code: 'usage' });
});
