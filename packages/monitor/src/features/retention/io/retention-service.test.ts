// Real git, real files, a real archive. What would be lost, or needs a person, is never removed.
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ProcessStart } from '@svc/lib/system';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { withArchiveIndex } from '../../archive/io/archive-index.ts';
import { sweepRuns } from '../../archive/io/sweep.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { Config } from '../../config.ts';
import { createCleanUp } from '../../runs/clean-up.ts';
import type { RunProjects } from '../../runs/io/run-project.ts';
import { testRepository } from '../../worktrees/testing/repository.ts';
import type { RetentionItem } from '../api.ts';
import { bytesIn, createRetention } from './retention-service.ts';

const DAY_MS = 86_400_000;
const THEN = Date.parse('2026-01-01T00:00:00.000Z');
const NOW = THEN + 40 * DAY_MS;
const policies = { worktreeDays: 30, runDays: 30, journalDays: 10, logDays: 10 };
const logger = pino({ level: 'silent' });

function world(retention: object = policies, more: { everyMs?: number; archiveDays?: number } = {}) {
  const repository = testRepository(temporaryFolder(), { now: () => new Date(THEN) });
  const dataDir = join(repository.home, 'svc');
  const runsDir = join(dataDir, 'runs');
  const eventsDir = join(dataDir, 'events');
  const databaseFile = join(dataDir, 'svc.db');
  const root = join(dataDir, 'archives');
  const locks = createFileLocks({ folder: join(dataDir, 'locks') });
  const board = emptyBoard();
  const lines: EventDraft[] = [];
  const processes = new Map<number, ProcessStart>();
  const worktrees = repository.worktrees();
  const projects = { of: async () => ({ worktrees }) } as unknown as RunProjects;
  const stopping = new AbortController().signal;
  const clock = { now: NOW, newest: NOW };
  const fold = (event: string, scope: object, detail: object = {}, at = THEN): void => {
    const ts = new Date(at).toISOString();
    const line = { event, source: 'orchestrator', via: 'local', scope, detail, seq: board.seq + 1, ts };
    foldLine(board, line as never);
  };
  const made = createRetention({
    machine: { home: repository.home, dataDir, runsDir, eventsDir, databaseFile },
    config: () =>
      Config.parse({ svc: { retention }, archive: { root, retention: { days: more.archiveDays ?? null } } }),
    board: () => board,
    folders: () => [repository.folder],
    projects,
    cleanUp: createCleanUp({ projects, stopping, logger }).run,
    locks,
    processStarts: async (pids) => new Map(pids.map((pid) => [pid, processes.get(pid) ?? { state: 'gone' }])),
    log: {
      append: async (line) => lines.push(line),
      lastSeqAt: async (time) => Math.min(clock.newest, time),
      timeOf: (seq) => seq,
    },
    logger,
    now: () => new Date(clock.now),
    ...more,
  });
  onTestFinished(made.stop);
  return {
    ...repository,
    ...made,
    board,
    clock,
    dataDir,
    runsDir,
    root,
    lines,
    processes,
    fold,
    git: repository.git,
    create: async (ticket: string) => (await worktrees.create(ticket)).path,
    /** An ended run with its signal file and an agent's journal. */
    run(
      orchestrator: string,
      ticket: string,
      { status = 'canceled', worktreePath = '/gone', ends = true } = {},
    ) {
      const scope = { orchestrator, ticket };
      const at = new Date(THEN).toISOString();
      const signal = {
        ...scope,
        workerName: ticket,
        status,
        phase: 1,
        startedAt: at,
        updatedAt: at,
        worktreePath,
      };
      fold('orchestrator.run.started', { orchestrator }, { tickets: [ticket] });
      fold('orchestrator.worker.status_changed', scope, { to: status, signal });
      if (ends) fold('orchestrator.run.completed', { orchestrator });
      const write = (name: string, text: string): void => {
        const path = join(runsDir, orchestrator, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        utimesSync(path, THEN / 1000, THEN / 1000);
      };
      write(`workers/${ticket}.json`, JSON.stringify(signal));
      write(`workers/output/${ticket}.1.journal.jsonl`, '{"said":"hello"}\n');
      write(`workers/output/${ticket}.1.agent.json`, '{}');
      return write;
    },
    sweep: (now = THEN + DAY_MS) =>
      withArchiveIndex(databaseFile, root, (index) =>
        sweepRuns({
          root,
          index,
          locks,
          runsDir,
          commsDir: join(dataDir, 'comms'),
          eventsDir,
          now: () => now,
        }),
      ),
    async items(kind: RetentionItem['kind']) {
      return (await made.report()).items.filter((item) => item.kind === kind);
    },
  };
}

type Made = ReturnType<typeof world>;

/** Each makes a worktree that must stay. */
const hazards: Record<string, (made: Made, path: string, ticket: string) => void> = {
  'a commit that was not pushed': ({ commit }, path) => void commit(path, 'work.txt', 'work'),
  'a changed file': ({ write }, path) => write(path, 'README.md', 'changed'),
  'a staged file': ({ write, git }, path) => {
    write(path, 'staged.txt', 'x');
    git(path, 'add', 'staged.txt');
  },
  'an untracked file': ({ write }, path) => write(path, 'notes/new.txt', 'x'),
  'a stash': ({ write, git }, path) => {
    write(path, 'README.md', 'later');
    git(path, 'stash', '-q');
  },
  'a rebase in progress': ({ commit, git, folder }, path, ticket) => {
    commit(path, `${ticket}.txt`, 'mine');
    git(path, 'push', '-q', 'origin', 'HEAD');
    commit(folder, `${ticket}.txt`, 'theirs');
    expect(() => git(path, 'rebase', 'main')).toThrow('Command failed');
  },
  'a lock': ({ git }, path) => void git(path, 'worktree', 'lock', path),
  'an open attention item': ({ fold }, _path, ticket) =>
    fold('comms.attention', { ticket }, { reason: 'look-here', message: 'Look.', severity: 'high' }),
  'an attention item of its run': ({ fold }, _path, ticket) =>
    fold(
      'comms.attention',
      { orchestrator: `run-${ticket}` },
      { reason: 'look-here', message: 'Look.', severity: 'low' },
    ),
  'another run that works on its ticket': ({ fold }, _path, ticket) =>
    fold('orchestrator.run.started', { orchestrator: 'run-next' }, { tickets: [ticket] }),
  'a change that is younger than the policy': ({ fold }, _path, ticket) =>
    fold('orchestrator.run.completed', { orchestrator: `run-${ticket}` }, {}, NOW - 29 * DAY_MS),
  'a worker that waits for a person': ({ fold }, _path, ticket) =>
    fold('orchestrator.worker.status_changed', { orchestrator: `run-${ticket}`, ticket }, { to: 'stalled' }),
};
const names = Object.keys(hazards);

/** Worktrees of ended runs, each pushed, each with its hazards. */
async function worldOf(worktrees: readonly (readonly string[])[]) {
  const made = world();
  const paths = new Map<string, string>();
  for (const [index, given] of worktrees.entries()) {
    const ticket = `ENG-${index + 1}`;
    const path = await made.create(ticket);
    made.commit(path, `done-${ticket}.txt`, 'done');
    made.git(path, 'push', '-q', 'origin', 'HEAD');
    made.run(`run-${ticket}`, ticket, { worktreePath: path });
    for (const name of given) hazards[name]?.(made, path, ticket);
    paths.set(ticket, path);
  }
  return { ...made, paths };
}

/** Everything that a removal could lose, as git and the disk have it. */
function stateOf({ git, folder }: Pick<Made, 'git' | 'folder'>, path: string): string {
  const head = git(path, 'rev-parse', 'HEAD');
  return [
    head,
    git(path, 'status', '--porcelain', '-uall'),
    git(folder, 'stash', 'list'),
    readFileSync(join(path, 'README.md'), 'utf8'),
  ].join('\n');
}

/** The names of those that were removed. */
async function keepsWhatMatters(worktrees: readonly (readonly string[])[]): Promise<string[]> {
  const made = await worldOf(worktrees);
  const before = new Map([...made.paths].map(([ticket, path]) => [ticket, stateOf(made, path)]));
  const { removed, failed } = await made.apply('kim');
  expect(failed).toEqual([]);
  for (const [index, given] of worktrees.entries()) {
    const ticket = `ENG-${index + 1}`;
    const path = made.paths.get(ticket) ?? '';
    expect(existsSync(path), `${ticket}: ${given.join(', ')}`).toBe(given.length > 0);
    if (given.length > 0) expect(stateOf(made, path)).toBe(before.get(ticket));
    else expect(made.git(made.folder, 'branch', '-r', '--list', `origin/${ticket}`)).not.toBe('');
  }
  const gone = removed.filter(({ kind }) => kind === 'worktrees').map(({ name }) => name);
  expect(gone).toHaveLength(worktrees.filter((given) => given.length === 0).length);
  expect(made.lines.filter(({ detail }) => 'kind' in detail && detail.kind === 'worktrees')).toHaveLength(
    gone.length,
  );
  return gone;
}

test('a worktree without a reason to keep it is removed; each reason alone keeps it', async () => {
  expect(await keepsWhatMatters([[], ...names.map((name) => [name])])).toEqual(['ENG-1']);
}, 300_000);

test('no random world of worktrees loses work', async () => {
  const anyWorktrees = fc.array(fc.subarray(names, { maxLength: 2 }), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(anyWorktrees, async (worktrees) => {
    await keepsWhatMatters(worktrees);
  });
  const numRuns = Number(process.env['WORLDS'] ?? 3);
  await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
}, 300_000);

test('a worktree of a live agent is kept, and so is one that no run is known to have used', async () => {
  const made = world();
  const path = await made.create('ENG-1');
  await made.create('ENG-2');
  const write = made.run('run-1', 'ENG-1', { worktreePath: path });
  write('workers/pids/ENG-1.1.pid', '4242\n');
  made.processes.set(4242, { state: 'unknown', problem: 'hidden' });
  expect(await made.items('worktrees')).toMatchObject([
    { name: 'ENG-1', remove: false, reason: 'the agent of ENG-1 is unknown' },
    { name: 'ENG-2', remove: false, reason: expect.stringContaining('unknown: when it last changed') },
  ]);
  expect(await made.apply('kim')).toEqual({ removed: [], failed: [] });
});

test('a change between the check and the removal keeps the worktree, and the reason is reported', async () => {
  const made = await worldOf([[]]);
  const path = made.paths.get('ENG-1') ?? '';
  const list = vi.spyOn(made.board.workers, 'values');
  let asked = 0;
  // The board is asked for the last time when git is about to be.
  list.mockImplementation(() => {
    asked += 1;
    if (asked === 4) made.write(path, 'at-the-last-moment.txt', 'x');
    return Map.prototype.values.call(made.board.workers) as ReturnType<typeof made.board.workers.values>;
  });
  const end = await made.apply('kim');
  expect(readFileSync(join(path, 'at-the-last-moment.txt'), 'utf8')).toBe('x');
  expect(end.removed.filter(({ kind }) => kind === 'worktrees')).toEqual([]);
});

test('a run is removed when every byte of it is archived; before that it is kept', async () => {
  const made = world({ ...policies, journalDays: null });
  const write = made.run('run-1', 'ENG-1');
  const reason = async () => (await made.items('runs'))[0]?.reason;
  expect(await reason()).toBe('would be lost: it is not archived (svc archive sweep run-1)');
  await made.sweep();
  write('notes.md', 'written after the sweep');
  expect(await reason()).toContain('run/notes.md is not in the archive');
  await made.sweep();
  // Same size and time, other bytes: only the removal reads them.
  write('notes.md', 'Written after the sweep');
  expect(await made.items('runs')).toMatchObject([{ remove: true }]);
  expect(await made.apply('kim')).toMatchObject({
    failed: [{ kind: 'runs', reason: expect.stringContaining('run/notes.md is not in the archive') }],
  });
  expect(readFileSync(join(made.runsDir, 'run-1', 'notes.md'), 'utf8')).toBe('Written after the sweep');
  expect((await made.report()).last).toMatchObject({ failed: [{ name: 'run-1' }] });
  write('notes.md', 'written after the sweep');
  expect(await made.apply('kim')).toMatchObject({ removed: [{ kind: 'runs', name: 'run-1' }], failed: [] });
  expect(await readdir(made.runsDir)).toEqual([]);
  expect(made.lines).toMatchObject([
    {
      event: 'monitor.retention.removed',
      detail: {
        kind: 'runs',
        name: 'run-1',
        by: 'kim',
        reason: 'unchanged for 40 d (svc.retention.runDays: 30)',
      },
    },
  ]);
  expect(existsSync(join(made.root, 'run-1', 'manifest.json'))).toBe(true);
});

test('journals go with their run when both are due', async () => {
  const made = world();
  made.run('run-1', 'ENG-1');
  await made.sweep();
  expect(await made.items('journals')).toMatchObject([{ remove: false, reason: 'removed with its run' }]);
  expect(await made.apply('kim')).toMatchObject({ removed: [{ kind: 'runs' }], failed: [] });
});

test('a run whose worktree exists is kept', async () => {
  const made = world();
  made.run('run-1', 'ENG-1', { worktreePath: made.folder });
  await made.sweep();
  expect(await made.items('runs')).toMatchObject([{ reason: `its worktree ${made.folder} exists` }]);
});

test('a run that a killed daemon was removing is a run again', async () => {
  const made = world({ ...policies, runDays: 60 });
  made.run('run-1', 'ENG-1');
  const { renameSync } = await import('node:fs');
  renameSync(join(made.runsDir, 'run-1'), join(made.runsDir, '.removing-run-1'));
  await made.apply('kim');
  expect(await readdir(made.runsDir)).toEqual(['run-1']);
});

test('journals of an ended run are removed with the images of its messages, its other files stay', async () => {
  const made = world({ ...policies, runDays: null });
  const write = made.run('run-1', 'ENG-1');
  write(`workers/output/ENG-1.${'a'.repeat(64)}.png`, 'x');
  write('workers/output/ENG-1.1.sent.jsonl.written', 'y');
  expect(await made.items('journals')).toMatchObject([
    { remove: false, reason: expect.stringContaining('svc archive sweep') },
  ]);
  await made.sweep();
  expect(await made.items('journals')).toMatchObject([{ remove: true, bytes: 19 }]);
  expect(await made.apply('kim')).toMatchObject({ removed: [{ kind: 'journals', name: 'run-1' }] });
  expect(await readdir(join(made.runsDir, 'run-1', 'workers', 'output'))).toEqual(['ENG-1.1.agent.json']);
});

test('archives and rotated logs are removed by age; the log that is written stays', async () => {
  const made = world({ ...policies, runDays: null, journalDays: null }, { archiveDays: 35 });
  made.run('run-1', 'ENG-1');
  await made.sweep();
  for (const name of ['monitor.log', 'monitor.log.1']) {
    mkdirSync(join(made.dataDir, 'logs'), { recursive: true });
    writeFileSync(join(made.dataDir, 'logs', name), 'text');
    utimesSync(join(made.dataDir, 'logs', name), THEN / 1000, THEN / 1000);
  }
  made.fold(
    'comms.attention',
    { orchestrator: 'run-1' },
    { reason: 'look-here', message: 'Look.', severity: 'low' },
  );
  expect(await made.apply('kim')).toMatchObject({
    removed: [{ kind: 'logs', name: 'monitor.log.1', bytes: 4 }],
  });
  expect(await made.items('archives')).toMatchObject([{ reason: 'needs attention: run-1/-/look-here' }]);
  made.fold('comms.attention_resolved', { orchestrator: 'run-1' }, { reason: 'look-here', by: 'kim' });
  expect(await made.apply('kim')).toMatchObject({ removed: [{ kind: 'archives', name: 'run-1' }] });
  expect(existsSync(join(made.root, 'run-1'))).toBe(false);
  expect(statSync(join(made.dataDir, 'logs', 'monitor.log')).size).toBe(4);
});

test('by default nothing is removed, and the event log never is', async () => {
  const made = world({});
  made.run('run-1', 'ENG-1');
  await made.sweep(NOW);
  const { automatic, totals, items } = await made.report();
  expect({ automatic, due: items.filter(({ remove }) => remove) }).toEqual({ automatic: false, due: [] });
  expect(totals).toMatchObject([
    { kind: 'worktrees', setting: 'svc.retention.worktreeDays', days: null, items: 0, bytes: 0 },
    { kind: 'runs', days: null, items: 1 },
    { kind: 'journals', days: null, items: 1 },
    { kind: 'archives', setting: 'archive.retention.days', days: null, items: 1 },
    { kind: 'logs', days: null, items: 0 },
    { kind: 'event log', setting: null, days: null, items: 1 },
  ]);
  expect(await made.apply('kim')).toEqual({ removed: [], failed: [] });
});

test('the daemon removes by itself only when that is configured', async () => {
  for (const automatic of [false, true]) {
    const made = world({ ...policies, automatic }, { everyMs: 20 });
    made.run('run-1', 'ENG-1');
    await made.sweep();
    made.start();
    if (automatic) {
      await vi.waitFor(async () => expect((await made.report()).last).not.toBeNull(), { timeout: 60_000 });
      expect(made.lines).toEqual([]);
      made.clock.now += DAY_MS;
      made.clock.newest = made.clock.now;
      await vi.waitFor(() => expect(made.lines).not.toEqual([]), { timeout: 60_000 });
    } else await made.report();
    expect(made.lines.length > 0).toBe(automatic);
  }
});

test('a size that takes too long to measure is unknown', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a'), 'abc');
  expect(await bytesIn(folder, performance.now() + 60_000)).toBe(3);
  expect(await bytesIn(folder, performance.now() - 1)).toBeNull();
});

test('nothing is removed while the clock is far ahead of the newest event that is a day old', async () => {
  const made = world();
  made.run('run-1', 'ENG-1');
  await made.sweep();
  made.clock.newest = NOW - 300 * DAY_MS;
  expect(await made.apply('kim')).toEqual({ removed: [], failed: [] });
  const reasons = (await made.items('runs')).map(({ reason }) => reason);
  expect(reasons).toEqual([expect.stringContaining('the clock may be wrong: there is no event for 300 d')]);
  made.clock.newest = NOW - 2 * DAY_MS;
  expect((await made.apply('kim')).removed).not.toEqual([]);
});

test('what was noted as due with a clock that was ahead is due from now on', async () => {
  const made = world({ ...policies, automatic: true }, { everyMs: 20 });
  made.run('run-1', 'ENG-1');
  await made.sweep();
  const noted = { [join(made.runsDir, 'run-1')]: new Date(NOW + 365 * DAY_MS).toISOString() };
  writeFileSync(join(made.dataDir, 'retention-due.json'), JSON.stringify(noted));
  made.start();
  await vi.waitFor(
    () => {
      const text = readFileSync(join(made.dataDir, 'retention-due.json'), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ [join(made.runsDir, 'run-1')]: new Date(NOW).toISOString() });
    },
    { timeout: 60_000 },
  );
  expect(made.lines).toEqual([]);
});
