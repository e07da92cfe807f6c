import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Board } from '../../../kernel/board/board.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventFields } from '../../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { Config } from '../../config.ts';
import { beginRun, type RunRequest } from './begin-run.ts';
import type { RunProject } from './run-project.ts';

const now = new Date('2026-01-02T03:04:05Z');

function world(
  svc: object = {},
  base: () => Promise<string> = async () => '/wt',
  findMissing: RunProject['findMissing'] = async () => ({ missing: [], checks: [] }),
  usedNames: readonly string[] = [],
) {
  const root = realpathSync(temporaryFolder());
  const project = join(root, 'web');
  mkdirSync(project);
  const board = emptyBoard();
  const asked: string[] = [];
  const config = Config.parse({ svc: { projectKey: 'web', ...svc } });
  const begin = (request: Partial<RunRequest>, folder = project) =>
    beginRun({
      request: { project: folder, plan: { tickets: ['ABC-1', 'ABC-2'] }, by: 'kim', ...request },
      board,
      projects: {
        async of(of) {
          asked.push(of);
          return {
            folder: of,
            config,
            problems: [],
            worktrees: { base },
            findMissing,
            usedNames: async () => usedNames,
          } as unknown as RunProject;
        },
      },
      now,
    });
  return { root, project, board, begin, asked };
}

function started(board: Board, draft: Awaited<ReturnType<typeof beginRun>>): void {
  foldLine(board, { ...draft, seq: board.seq + 1, ts: now.toISOString() });
}

test('the event that starts a run has everything that a restart needs', async () => {
  const { begin, board, project } = world({ orchestration: { maxParallel: 4, workerModel: 'haiku' } });
  const draft = await begin({ plan: { waves: [['ABC-1'], ['ABC-2', 'ABC-3']] }, base: 'release/2' });
  expect(draft).toMatchObject({
    event: 'orchestrator.run.started',
    scope: { orchestrator: 'ABC-1' },
    detail: { by: 'kim', waves: 2 },
  });
  started(board, draft);
  expect(board.runs.get('ABC-1')).toMatchObject({
    state: 'running',
    plan: {
      waves: [['ABC-1'], ['ABC-2', 'ABC-3']],
      project,
      base: 'release/2',
      maxParallel: 4,
      workerModel: 'haiku',
      workerCommand: '/svc-dev:oneshot',
    },
  });
});

test('a run is named by its first ticket, with a number if another has the name', async () => {
  const { begin, board } = world();
  const names: (string | undefined)[] = [];
  for (const project of ['web', 'api', 'docs']) {
    const draft = await begin({});
    names.push(draft.scope.orchestrator);
    // Those of other projects: a ticket belongs to one run of its own project.
    started(board, { ...draft, detail: { ...draft.detail, project: `/${project}` } } as typeof draft);
  }
  expect(names).toEqual(['ABC-1', 'ABC-1-2', 'ABC-1-3']);
  expect((await begin({ plan: { tickets: ['abc-1'] } })).scope.orchestrator).toBe('abc-1-4');
  expect((await begin({ plan: { tickets: ['ABC-9'] } })).scope.orchestrator).toBe('ABC-9');
});

test('a name that an earlier run has in a folder or an archive is not used again', async () => {
  const { begin } = world({}, undefined, undefined, ['abc-1', 'ABC-1-2']);
  expect((await begin({})).scope.orchestrator).toBe('ABC-1-3');
});

test('a request overrides the configuration', async () => {
  const { begin } = world();
  const { scope, detail }: EventFields = await begin({ maxParallel: 7, name: 'night' });
  expect([scope.orchestrator, detail['maxParallel'], detail['base']]).toEqual(['night', 7, 'main']);
});

test('the choice of agents is in the plan of the run; the request comes before the file', async () => {
  const asked: unknown[] = [];
  const { begin, board } = world({}, undefined, async (...question) => {
    asked.push(question);
    return { missing: [], checks: [] };
  });
  const file = {
    tickets: [{ ticket: 'ABC-1', agent: 'qwen' }, { ticket: 'ABC-2', agent: 'claude' }, 'ABC-3'],
  };
  const draft = await begin({ plan: { file }, agent: 'codex', agents: { 'ABC-1': 'gemini' } });
  started(board, draft);
  const plan = board.runs.get(draft.scope.orchestrator)?.plan;
  expect(plan).toMatchObject({ agent: 'codex', agents: { 'ABC-1': 'gemini', 'ABC-2': 'claude' } });
  const all = ['ABC-1', 'ABC-2', 'ABC-3'];
  expect(asked).toEqual([[plan, all, all]]);
  await expect(world().begin({ agents: { 'ABC-9': 'codex' } })).rejects.toThrow(
    'An agent is chosen for "ABC-9", which is not in this run.',
  );
});

test('everything that is missing is reported at once, each with its fix', async () => {
  const skill = { problem: 'The skill is not installed.', remedy: 'Run: svc skills install' };
  const program = { problem: 'The program is not installed.', remedy: 'Run: svc skills install' };
  const one = world({}, undefined, async () => ({ missing: [skill], checks: [] })).begin({});
  await expect(one).rejects.toMatchObject({
    code: 'not-ready',
    status: 409,
    message: skill.problem,
    remedy: skill.remedy,
  });
  const all = world({ orchestration: { budget: { dayUsd: 5 } } }, undefined, async () => ({
    missing: [skill, program],
    checks: [],
  }));
  const attempt = { attempt: 1, sum: null, usd: 5, tokens: null, model: null };
  const spent = { attempts: [attempt], days: [{ day: '2026-01-02', usd: 5 }] };
  all.board.runs.set('old', { orchestrator: 'old', plan: { project: all.project, waves: [] } } as never);
  all.board.workers.set('old/ABC-9', { orchestrator: 'old', ticket: 'ABC-9', spent, signal: null } as never);
  await expect(all.begin({})).rejects.toMatchObject({
    message: [
      '3 things are missing:',
      '1. The budget of the project for 2026-01-02 is used up: $5.00 of $5.00. A turn that runs may end, no further one is started. Raise it: svc config set svc.orchestration.budget.dayUsd <amount>',
      '2. The skill is not installed. Run: svc skills install',
      '3. The program is not installed. Run: svc skills install',
    ].join('\n'),
    remedy: 'Fix them, then start it again.',
  });
});

const hostile = [
  'A B',
  "A'1",
  'A"1',
  '$(touch x)',
  '`id`',
  'A\n1',
  '..',
  '../A-1',
  '-rf',
  '--help',
  'a/b',
  'A\u0000',
  'x'.repeat(200),
  '',
];

test.each(hostile)('neither a ticket nor a run name: %j', async (text) => {
  const { begin, board } = world();
  await expect(begin({ plan: { tickets: ['ABC-1', text] } })).rejects.toThrow(/tickets\[1\]/);
  await expect(begin({ plan: { waves: [[text]] } })).rejects.toThrow(/waves\[0\]\[0\]/);
  const file = { tickets: [{ ticket: 'ABC-1', blockedBy: [text] }] };
  await expect(begin({ plan: { file } })).rejects.toThrow(/tickets\[0\]\.blockedBy\[0\]/);
  await expect(begin({ name: text })).rejects.toMatchObject({ code: 'usage' });
  expect(board.runs.size).toBe(0);
});

test.each(['--upload-pack=x', 'a b', 'a..b', 'a\nb', 'HEAD', '', 'x'.repeat(201), '~1'])(
  'not a base: %j',
  async (base) => {
    await expect(world().begin({ base })).rejects.toMatchObject({ code: 'usage' });
  },
);

test('a plan with a cycle names it', async () => {
  const file = {
    tickets: [
      { ticket: 'ABC-1', blockedBy: ['ABC-2'] },
      { ticket: 'ABC-2', blockedBy: ['ABC-1'] },
    ],
  };
  await expect(world().begin({ plan: { file } })).rejects.toThrow(/ABC-1.*ABC-2|ABC-2.*ABC-1/);
});

test('a worker command without its plugin is refused, with the example', async () => {
  const { project, board } = world();
  const config = Config.parse({ svc: { projectKey: 'web' } });
  config.svc.orchestration.workerCommand = '/oneshot';
  const refused = beginRun({
    request: { project, plan: { tickets: ['ABC-1'] }, by: 'kim' },
    board,
    projects: {
      of: async () =>
        ({
          folder: project,
          config,
          problems: [],
          worktrees: { base: async () => '/wt' },
          usedNames: async () => [],
        }) as unknown as RunProject,
    },
    now,
  });
  await expect(refused).rejects.toMatchObject({ code: 'not-ready' });
  await expect(refused).rejects.toThrow('/<plugin>:<skill>, for example /svc-dev:oneshot');
});

test('an agent template that does not name a program is refused', async () => {
  await expect(world({ orchestration: { agent: [] } }).begin({})).rejects.toMatchObject({
    code: 'not-ready',
  });
});

test('a ticket of another open run is refused, in any case; one of a finished run is not', async () => {
  const { begin, board, root, project } = world();
  started(board, await begin({ name: 'first' }));
  const refused = begin({ plan: { tickets: ['ABC-9', 'abc-2'] } });
  await expect(refused).rejects.toMatchObject({ code: 'already-running' });
  await expect(refused).rejects.toThrow('Already in the run first: ABC-2.');
  // Another path to the same project.
  symlinkSync(project, join(root, 'link'));
  await expect(begin({}, join(root, 'link'))).rejects.toMatchObject({ code: 'already-running' });
  mkdirSync(join(root, 'other'));
  await expect(begin({}, join(root, 'other'))).resolves.toBeDefined();
  const scope = { orchestrator: 'first' };
  const canceled = {
    event: 'orchestrator.run.canceled',
    source: 'cli',
    via: 'local',
    scope,
    detail: {},
  } as const;
  foldLine(board, { ...canceled, seq: 2, ts: now.toISOString() });
  await expect(begin({})).resolves.toBeDefined();
  await expect(begin({ name: 'first' })).rejects.toThrow('The run first exists already.');
});

test('a project that cannot be read, has no folder for worktrees or no agent program, is refused', async () => {
  const { begin, root, board } = world();
  await expect(begin({}, join(root, 'nowhere'))).rejects.toMatchObject({ code: 'usage' });
  await expect(begin({}, 'a\0b')).rejects.toMatchObject({ code: 'usage' });
  const broken = beginRun({
    request: { project: root, plan: { tickets: ['ABC-1'] }, by: 'kim' },
    board,
    projects: { of: () => Promise.reject(new Failure('config-invalid', 'svc.projectKey: expected text')) },
    now,
  });
  await expect(broken).rejects.toThrow('svc.projectKey: expected text');
  const homeless = world({}, () => Promise.reject(new Failure('not-configured', 'no repository')));
  await expect(homeless.begin({})).rejects.toThrow('no repository');
  const agentless = world({}, undefined, () =>
    Promise.reject(new Failure('start-failed', 'no such program')),
  );
  await expect(agentless.begin({})).rejects.toMatchObject({ code: 'start-failed' });
});
