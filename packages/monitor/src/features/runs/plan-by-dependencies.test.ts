import { expect, test } from 'vitest';
import { emptyBoard } from '../board.ts';
import { Config } from '../config.ts';
import type { Dependencies } from '../tracker/dependencies.ts';
import { beginRun, planByDependencies, type RunRequest } from './io/begin-run.ts';

import type { RunProject } from './io/run-project.ts';

const folder = import.meta.dirname;
const request: RunRequest = {
  project: folder,
  plan: { tickets: ['ABC-2', 'ABC-1'] },
  name: 'run-1',
  by: 'k',
};

const graph = (...blocked: [string, string[]][]): Dependencies => ({
  tickets: blocked.map(([ticket, blockedBy]) => ({ ticket, blockedBy })),
  outside: [{ ticket: 'ABC-1', blocker: 'ABC-9', state: 'Todo' }],
  unknown: [],
});

const repository = { org: 'acme', name: 'web' };
const config = Config.parse({ svc: { repository, tracker: { provider: 'github' } } });
const projects = {
  of: async () =>
    ({
      config,
      problems: [],
      worktrees: { base: async () => '/base' },
      findMissing: async () => ({ missing: [], checks: [] }),
      usedNames: async () => [],
    }) as unknown as RunProject,
};

async function started(given: RunRequest) {
  return beginRun({ request: given, board: emptyBoard(), projects, now: new Date(0) });
}

test('the waves follow from the tracker, and blockers outside are returned', async () => {
  const asked: unknown[] = [];
  const planned = await planByDependencies(request, projects, async (...question) => {
    asked.push(question);
    return graph(['ABC-2', ['ABC-1']], ['ABC-1', []]);
  });
  expect(asked).toEqual([[folder, ['ABC-2', 'ABC-1']]]);
  expect(planned.outside).toEqual([{ ticket: 'ABC-1', blocker: 'ABC-9', state: 'Todo' }]);
  expect((await started(planned.request)).detail).toMatchObject({ plan: [['ABC-1'], ['ABC-2']], waves: 2 });
});

test('a cycle starts nothing', async () => {
  const planned = await planByDependencies(request, projects, async () =>
    graph(['ABC-2', ['ABC-1']], ['ABC-1', ['ABC-2']]),
  );
  await expect(started(planned.request)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('in a cycle: ABC-2 → ABC-1 → ABC-2'),
  });
});

test('an invalid list of tickets is not looked up', async () => {
  const ask = (): never => {
    throw new Error('It was asked');
  };
  const plan = { file: { tickets: ['ABC-1', '../x', 'ABC-1'] } };
  await expect(planByDependencies({ ...request, plan }, projects, ask)).rejects.toMatchObject({
    code: 'usage',
  });
});

const issue = 'https://github.com/acme/web/issues/2';

test('a ticket may be the number or the address of its issue', async () => {
  const plan = { file: { tickets: ['#1', issue] } };
  const planned = await planByDependencies({ ...request, plan }, projects, async (_, tickets) => {
    expect(tickets).toEqual(['GH-1', 'GH-2']);
    return graph(['GH-1', []], ['GH-2', ['GH-1']]);
  });
  expect((await started(planned.request)).detail).toMatchObject({ plan: [['GH-1'], ['GH-2']] });
  for (const file of [
    { waves: [['#1'], [issue]] },
    { tickets: ['GH-1', { ticket: issue, blockedBy: ['#1'] }] },
  ])
    expect((await started({ ...request, plan: { file } })).detail).toMatchObject({
      plan: [['GH-1'], ['GH-2']],
    });
});
