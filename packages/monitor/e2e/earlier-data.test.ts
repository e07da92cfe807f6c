// A data folder that commit 2fa0f4c wrote, before names of the API, the board and the database changed: two decisions
// on deploys, an attention item that was acknowledged and handed over, a worker whose process is gone, and an outbox
// with a message to a worker and an effect that was given up without its attention. The SQL is a dump of its svc.db.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { boardKinds, type EventLine, emptyBoard, foldLine, packBoard } from '@svc/core';
import { storyRepo, temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { createOutboxStore, openOutboxDatabase } from '../src/outbox/outbox-store.ts';
import { openSnapshotStore } from '../src/state/snapshot-store.ts';
import { storyDaemon } from './story-daemon.ts';

const kept = join(import.meta.dirname, 'earlier-data');
const read = (name: string): string => readFileSync(join(kept, name), 'utf8');
const lines = read('2026-11.jsonl')
  .trim()
  .split('\n')
  .map((text) => JSON.parse(text) as EventLine);
const now = () => new Date(Date.parse(lines.at(-1)?.ts ?? '') + 60_000);

/** A home with the folder in it, and the signal files as the log has them. */
function earlierHome(): string {
  const home = temporaryFolder();
  const data = join(home, 'svc');
  mkdirSync(join(data, 'events'), { recursive: true, mode: 0o700 });
  copyFileSync(join(kept, '2026-11.jsonl'), join(data, 'events/2026-11.jsonl'));
  const database = new DatabaseSync(join(data, 'svc.db'));
  database.exec(read('svc.sql'));
  database.close();
  for (const { scope, detail } of lines) {
    if (detail['signal'] === undefined) continue;
    const file = join(data, 'runs', scope.orchestrator ?? '', 'workers', `${scope.ticket}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(detail['signal']));
  }
  return home;
}

type EarlierWorker = {
  signal: { startedAt: string };
  deploy: { retried: object | null } | null;
  statusSince: string;
  statusSeq: number;
};

test('the log is folded to the same board', () => {
  const board = emptyBoard();
  for (const line of lines) foldLine(board, line);
  const { form: _now, ...packed } = JSON.parse(JSON.stringify(packBoard(board))) as Record<string, unknown>;
  const renamed = read('board.json')
    .replaceAll('"life":', '"process":')
    .replaceAll('"toldAt":', '"reportedAt":')
    // Agents, what they cost, and the sessions of people are known since then.
    .replaceAll('"recalls":', '"agent":null,"spent":{"attempts":[],"days":[]},"recalls":')
    .replaceAll('"snoozedUntil":', '"session":null,"snoozedUntil":')
    .replaceAll('"hash":', '"given":null,"hash":');
  const {
    form: _then,
    workers,
    ...earlier
  } = JSON.parse(renamed) as { form: string; workers: EarlierWorker[] };
  expect(packed).toEqual({
    ...earlier,
    workers: workers.map((worker) => ({
      ...worker,
      first: { repo: 'acme/web', startedAt: worker.signal.startedAt },
      refuted: [],
      waited: { ms: 0, since: null, days: [] },
      deploy: worker.deploy?.retried
        ? {
            ...worker.deploy,
            retried: { ...worker.deploy.retried, at: worker.statusSince, seq: worker.statusSeq },
          }
        : worker.deploy,
    })),
    sessions: [],
    members: [],
    team: [],
    commands: [],
    tasks: [],
    localTickets: 0,
  });
});

test('the tables get their new names, and what waited in the outbox still waits', () => {
  const path = join(earlierHome(), 'svc/svc.db');
  const database = openOutboxDatabase(path);
  const store = createOutboxStore({ database, lastSeq: lines.length, clock: { now: () => now().getTime() } });
  expect(store).toMatchObject({ started: 'resumed', dropped: 0 });
  // The worker's inbox and the log know the message by its key.
  expect(store.due('codehost', now().getTime(), 10)).toMatchObject([
    {
      key: '35:tell-worker:run-1/ENG-7:checks',
      kind: 'message-worker',
      effect: { kind: 'message-worker', text: 'Checks fail.' },
    },
  ]);
  expect(store.unsent(10)).toMatchObject([
    { key: '35:move-ticket:ENG-7', lastError: 'the tracker refused it' },
  ]);
  expect(database.prepare('SELECT * FROM schema_versions ORDER BY area').all()).toEqual([
    { area: 'log', version: 2 },
    { area: 'outbox', version: 3 },
    { area: 'state', version: 1 },
  ]);
  store.close();
  // Opened again, nothing is renamed twice.
  openOutboxDatabase(path).close();
});

test('a snapshot of the earlier board is dropped', () => {
  const path = join(earlierHome(), 'svc/svc.db');
  const database = new DatabaseSync(path);
  expect(database.prepare('SELECT count(*) AS count FROM state_snapshots').get()).toEqual({ count: 1 });
  database.close();
  const snapshots = openSnapshotStore({ path });
  expect(snapshots.figures()).toEqual({ count: 0, bytes: 0 });
  snapshots.close();
});

test('a daemon goes on from it: decisions and acknowledgements count', async () => {
  const settings = { deploy: { [storyRepo]: { skipDeployVerification: false, timeoutSec: 604_800 } } };
  const home = earlierHome();
  const daemon = await storyDaemon({ home, settings, now });
  expect(JSON.parse(readFileSync(join(home, 'svc/format.json'), 'utf8'))).toMatchObject({ format: 1 });
  const board = async () => (await daemon.get('/api/board?all=1')).body as Record<string, object[]>;
  await until(async () => (await daemon.get('/api/board')).status === 200);
  const { workers, attention } = await board();
  expect(workers).toMatchObject([
    { ticket: 'ENG-42', status: 'merged', deploy: { attempts: [], retried: { times: 1 } } },
    { ticket: 'ENG-7', process: { state: 'dead' } },
    { ticket: 'ENG-9', status: 'done', deploy: { result: 'accepted' } },
  ]);
  expect(attention).toContainEqual(
    expect.objectContaining({
      id: 'run-1/ENG-7/worker-dead',
      acknowledged: expect.objectContaining({ by: 'kim' }),
      handedOver: expect.objectContaining({ to: 'alex', by: 'kim', note: 'yours' }),
    }),
  );
  // What was given up gets its attention, and the retry its own budget.
  await until(async () => JSON.stringify((await board())['attention']).includes('outbox-gave-up'));
  await daemon.happens('deployment_status error', { deployment: { id: 4 } });
  const failed = { status: 'deploy-failed', deploy: { attempts: [{ deploymentId: 4 }], result: null } };
  await until(async () => {
    const [first] = (await board())['workers'] ?? [];
    return first !== undefined && 'status' in first && first.status === failed.status;
  });
  expect((await board())['workers']?.[0]).toMatchObject(failed);
});

/** The home of a data folder that `chaos/upgrade.ts --keep` has made. */
function keptHome(name: string): string {
  const home = temporaryFolder();
  const data = join(home, 'svc');
  const folder = join(import.meta.dirname, name);
  const moved = (text: string): string => text.replaceAll('/tmp/svc-data-fixture', home);
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(home, to)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, to), moved(readFileSync(join(folder, from), 'utf8')), { mode: 0o600 });
  };
  put('config.json', '.config/svc/config.json');
  put('project.json', '.svc/config.json');
  for (const part of ['runs', 'archives']) cpSync(join(folder, part), join(data, part), { recursive: true });
  for (const month of readdirSync(join(folder, 'events'))) put(`events/${month}`, `svc/events/${month}`);
  const database = new DatabaseSync(join(data, 'svc.db'));
  database.exec(moved(readFileSync(join(folder, 'svc.sql'), 'utf8')));
  database.close();
  return home;
}

test('a folder of the last commit without a format opens with the same board, log and archive', async () => {
  const home = keptHome('data-format-0');
  const logOf = (): string => readFileSync(join(home, 'svc/events/2026-11.jsonl'), 'utf8');
  const log = logOf();
  const last = JSON.parse(log.trimEnd().split('\n').at(-1) ?? '') as EventLine;
  const daemon = await storyDaemon({
    home,
    settings: null,
    now: () => new Date(Date.parse(last.ts) + 60_000),
  });
  await until(async () => (await daemon.get('/api/board')).status === 200);
  const { body: board } = await daemon.get('/api/board?all=1');
  const expected = JSON.parse(
    readFileSync(join(import.meta.dirname, 'data-format-0/board.json'), 'utf8'),
  ) as Record<string, unknown>;
  // Of what was not known then there is nothing.
  for (const kind of boardKinds)
    if (kind !== 'feeds') expect(board[kind], kind).toMatchObject(expected[kind] ?? []);
  expect(board).toMatchObject({
    workers: [{ ticket: 'ENG-1', status: 'canceled', agent: { name: 'claude' } }, { ticket: 'ENG-2' }],
    sessions: [{ key: 'claude/s-1', state: 'ended' }],
    attention: [{ id: 'run-1/ENG-1/look-here' }],
  });
  expect(logOf().startsWith(log)).toBe(true);
  expect(JSON.parse(readFileSync(join(home, 'svc/format.json'), 'utf8'))).toMatchObject({ format: 1 });
  const terminal = { ...testTerminal(), home, folder: home };
  expect(await runCommandLine(terminal, ['archive', 'verify']), terminal.complained()).toBe(0);
  expect(terminal.printed()).toContain('1 run, 6 files');
});

test('a folder that a newer svc has written is refused, and nothing in it changes', async () => {
  const home = earlierHome();
  const data = join(home, 'svc');
  writeFileSync(join(data, 'format.json'), '{"format":99,"svc":"9.0.0"}');
  const before = readFileSync(join(data, 'events/2026-11.jsonl'), 'utf8');
  const refusal = 'has format 99, written by svc 9.0.0. This svc knows formats up to 1. Nothing was changed.';
  await expect(storyDaemon({ home })).rejects.toThrow(refusal);
  for (const words of [
    ['archive', 'sweep'],
    ['worktree', 'create', 'ENG-1'],
    ['events', 'reindex'],
    ['monitor', 'start'],
  ]) {
    const terminal = { ...testTerminal(), home, folder: home };
    expect(await runCommandLine(terminal, words), words.join(' ')).toBe(6);
    expect(terminal.complained()).toContain(refusal);
    expect(terminal.complained()).toContain('Update svc to 9.0.0 or newer');
  }
  expect(readFileSync(join(data, 'events/2026-11.jsonl'), 'utf8')).toBe(before);
});
