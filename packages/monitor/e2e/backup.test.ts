// Moving house (docs/moving.md): a backup made while the daemon runs, restored on another machine, and what was
// there before. Files that are no backup, or a hostile one, change nothing.
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ArchiveManifest } from '@svc/core';
import { codehostExample, codehostHeaders, temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { openArchiveIndex } from '../src/archive/archive-index.ts';
import { tarEnd, tarHeader, tarPadding } from '../src/cli/backup/tar-write.ts';
import { runCommandLine } from '../src/cli/run.ts';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 'd'.repeat(64);
const TOKEN = 'token-hush-hush';
const environment = { SVC_WEBHOOK_SECRET: SECRET };
const archivedRun = {
  orchestrator: 'run-0',
  archivedAt: '2026-01-02T03:04:05.678Z',
  state: 'completed',
  files: [],
} as unknown as ArchiveManifest;

function house() {
  const home = temporaryFolder();
  const write = (path: string, value: unknown) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    if (path.startsWith('.config/')) chmodSync(file, 0o600);
  };
  const svc = async (...words: string[]) => {
    const terminal = { ...testTerminal(), home, folder: home, now: () => new Date() };
    const code = await runCommandLine(terminal, words);
    return { code, printed: terminal.printed(), complained: terminal.complained() };
  };
  return { home, at: (path: string) => join(home, path), write, svc };
}

type House = ReturnType<typeof house>;

/** A machine with a history: deliveries, a run, an archived run, a channel, secrets. */
async function livedIn(): Promise<House & { daemon: Awaited<ReturnType<typeof startInProcess>> }> {
  const old = house();
  const { home, write } = old;
  write('.config/svc/config.json', { svc: { monitor: { github: { smeeChannel: 'http://127.0.0.1:9/x' } } } });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABC' } } });
  write('.config/svc/webhook-secret', SECRET);
  write('.svc/config.json', { svc: { projectKey: 'demo' } });
  write('svc/archives/run-0/manifest.json', '{"archived":true}');
  write('svc/comms/channels/run-1.jsonl', '{"said":"hello"}\n');
  const time = new Date().toISOString();
  write('svc/runs/run-1/workers/ABC-1.json', {
    ticket: 'ABC-1',
    orchestrator: 'run-1',
    workerName: 'w',
    status: 'implementing',
    phase: 3,
    startedAt: time,
    updatedAt: time,
  });
  symlinkSync('/etc/passwd', join(home, 'svc/runs/run-1/link'));
  const daemon = await startInProcess({ home, environment });
  for (const name of ['pull_request opened', 'pull_request merged']) {
    const delivery = codehostExample(name);
    const body = JSON.stringify(delivery.payload);
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = {
      ...codehostHeaders({ ...delivery, deliveryId: crypto.randomUUID() }),
      'x-hub-signature-256': `sha256=${signature}`,
    };
    expect((await daemon.post('/api/webhook', body, headers)).status).toBe(200);
  }
  await until(async () => (await boardOf(daemon)).workers.length === 1);
  return { ...old, daemon };
}

async function boardOf(daemon: Pick<Awaited<ReturnType<typeof startInProcess>>, 'get'>) {
  const { body } = await daemon.get('/api/board?all=1');
  const { workers, pullRequests } = body as { workers: { ticket: string }[]; pullRequests: object[] };
  return { workers, pullRequests };
}

/** Everything under a folder, with its bytes. */
function filesUnder(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

test('a machine moves: events, board and configuration are the same on the new one', async () => {
  const old = await livedIn();
  const archive = openArchiveIndex({ databaseFile: old.at('svc/svc.db'), root: old.at('svc/archives') });
  archive.put(archivedRun, 'f'.repeat(64), 1, new Map());
  archive.close();
  const made = await old.svc('backup', 'create', '--to', 'moving.tar.gz');
  expect([made.code, made.complained]).toEqual([0, '']);
  expect(made.printed).toContain('config-demo.json  svc.tracker.apiToken');
  expect(made.printed).toContain('webhook-secret');
  expect(statSync(old.at('moving.tar.gz')).mode & 0o777).toBe(0o600);
  expect(gunzipSync(readFileSync(old.at('moving.tar.gz'))).includes(TOKEN)).toBe(false);
  expect(gunzipSync(readFileSync(old.at('moving.tar.gz'))).includes(SECRET)).toBe(false);
  const listed = execFileSync('tar', ['tzf', old.at('moving.tar.gz')], { encoding: 'utf8' }).split('\n');
  expect(listed).toContain('runs/run-1/workers/ABC-1.json');
  expect(listed).not.toContain('runs/run-1/link');
  const board = await boardOf(old.daemon);
  const lines = old.daemon.lines();
  await old.daemon.close();

  const fresh = house();
  fresh.write('.svc/config.json', { svc: { projectKey: 'demo' } });
  const restored = await fresh.svc('backup', 'restore', old.at('moving.tar.gz'));
  expect([restored.code, restored.complained]).toEqual([0, '']);
  expect(restored.printed).toMatch(/^\d+ files of \S+ \(.*\) are restored, every checksum right\.$/m);
  expect(restored.printed).toContain('config-demo.json  svc.tracker.apiToken');
  expect(readFileSync(fresh.at('.config/svc/config-demo.json'), 'utf8')).toBe(
    '{"svc":{"tracker":{"teamKey":"ABC"}}}',
  );
  expect(statSync(fresh.at('.config/svc/config-demo.json')).mode & 0o777).toBe(0o600);
  for (const path of [
    '.config/svc/config.json',
    'svc/archives/run-0/manifest.json',
    'svc/comms/channels/run-1.jsonl',
  ])
    expect(readFileSync(fresh.at(path), 'utf8')).toBe(readFileSync(old.at(path), 'utf8'));
  const daemon = await startInProcess({ home: fresh.home, environment });
  await until(async () => (await boardOf(daemon)).workers.length === 1);
  expect(daemon.lines().slice(0, lines.length)).toEqual(lines);
  expect(await boardOf(daemon)).toEqual(board);
  const [channel] = JSON.parse(
    (await fresh.svc('config', 'explain', 'svc.monitor.github.smeeChannel', '--json')).printed,
  ) as { value: string }[];
  expect(channel?.value).toBe('http://127.0.0.1:9/x');
  // The index of the archive goes by its folder, which is another one here.
  const moved = openArchiveIndex({ databaseFile: fresh.at('svc/svc.db'), root: fresh.at('svc/archives') });
  expect(moved.runs().map(({ orchestrator }) => orchestrator)).toEqual(['run-0']);
  moved.close();
  // The index came along and goes on.
  const { body } = await daemon.get('/api/events?event=codehost.pr.merged');
  expect((body['events'] as unknown[]).length).toBe(1);
});

test('with secrets: they are there, and it is said; without events: there are none', async () => {
  const old = await livedIn();
  const made = await old.svc('backup', 'create', '--to', 'all.tar.gz', '--with-secrets', '--no-events');
  expect(made.printed).toContain('It holds secrets, and only its owner can read it (mode 600)');
  const fresh = house();
  expect((await fresh.svc('backup', 'restore', old.at('all.tar.gz'))).code).toBe(0);
  expect(filesUnder(fresh.at('.config/svc'))).toEqual(filesUnder(old.at('.config/svc')));
  expect(statSync(fresh.at('.config/svc/webhook-secret')).mode & 0o777).toBe(0o600);
  expect(existsSync(fresh.at('svc/events'))).toBe(false);
  expect((await old.svc('backup', 'create', '--to', 'all.tar.gz')).complained).toContain('is there already');
});

test('what is there is refused, and with --force renamed, never removed', async () => {
  const old = await livedIn();
  await old.svc('backup', 'create', '--to', 'one.tar.gz');
  const busy = await old.svc('backup', 'restore', 'one.tar.gz', '--force');
  expect([busy.code, busy.complained]).toEqual([6, expect.stringContaining('svc-monitor.sh stop')]);
  await old.daemon.close();
  const before = { data: filesUnder(old.at('svc')), config: filesUnder(old.at('.config/svc')) };
  const refused = await old.svc('backup', 'restore', 'one.tar.gz');
  expect(refused.code).toBe(1);
  expect(refused.complained).toMatch(/There is something already: .*Nothing was changed[^]*--force/);
  expect({ data: filesUnder(old.at('svc')), config: filesUnder(old.at('.config/svc')) }).toEqual(before);
  const forced = await old.svc('backup', 'restore', 'one.tar.gz', '--force');
  expect(forced.code).toBe(0);
  expect(forced.printed).toMatch(/^Set aside: .*\/svc\/events\.before-restore-/m);
  const kept = readdirSync(old.at('.config')).find((name) => name.startsWith('svc.before-restore-')) ?? '';
  expect(filesUnder(old.at(`.config/${kept}`))).toEqual(before.config);
  const events = readdirSync(old.at('svc')).find((name) => name.startsWith('events.before-restore-')) ?? '';
  const eventsBefore = Object.entries(before.data).filter(([path]) => path.startsWith('events/'));
  expect(
    Object.entries(filesUnder(old.at(`svc/${events}`))).map(([path, text]) => [`events/${path}`, text]),
  ).toEqual(eventsBefore);
});

test('of a log that is being written only whole lines are taken', async () => {
  const old = house();
  old.write('svc/events/2026-01.jsonl', '{"seq":1}\n{"seq":2}\n');
  old.write('svc/events/2026-02.jsonl', '{"seq":3');
  appendFileSync(old.at('svc/events/2026-01.jsonl'), '{"seq":');
  expect((await old.svc('backup', 'create', '--to', 'live.tar.gz')).code).toBe(0);
  const fresh = house();
  expect((await fresh.svc('backup', 'restore', old.at('live.tar.gz'))).code).toBe(0);
  expect(filesUnder(fresh.at('svc/events'))).toEqual({
    '2026-01.jsonl': '{"seq":1}\n{"seq":2}\n',
    '2026-02.jsonl': '',
  });
});

test('a name that is longer than a header of tar', async () => {
  const old = house();
  const long = `runs/${'folder/'.repeat(20)}${'n'.repeat(150)}.json`;
  old.write(`svc/${long}`, 'bytes');
  await old.svc('backup', 'create', '--to', 'long.tar.gz');
  expect(execFileSync('tar', ['tzf', old.at('long.tar.gz')], { encoding: 'utf8' })).toContain(long);
  const fresh = house();
  expect((await fresh.svc('backup', 'restore', old.at('long.tar.gz'))).code).toBe(0);
  expect(readFileSync(fresh.at(`svc/${long}`), 'utf8')).toBe('bytes');
});

const entry = (path: string, text: string, change: (header: Buffer) => void = () => undefined): Buffer => {
  const header = tarHeader({ path, size: text.length, mode: 0o600, seconds: 0 });
  change(header);
  return Buffer.concat([header, Buffer.from(text), tarPadding(text.length)]);
};
const manifest = (files: object[]) =>
  entry(
    'manifest.json',
    JSON.stringify({
      format: 'svc-backup',
      version: 1,
      madeAt: '2026-01-02T03:04:05Z',
      svcVersion: '0.1.0',
      hostName: 'x',
      withSecrets: false,
      leftOut: [],
      withEvents: true,
      archiveRoot: '/a',
      projects: [],
      files,
    }),
  );
/** As another program would write it: a type of its own, and a sum that is right. */
const ofType = (type: string) => (header: Buffer) => {
  header.write(type, 156, 'latin1');
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
};
const pack = (...entries: Buffer[]) => gzipSync(Buffer.concat([...entries, tarEnd]));
const told = { path: 'events/a.jsonl', size: 1, sha256: '0'.repeat(64) };

test.each<[string, Buffer, string]>([
  ['no gzip', Buffer.from('hello'), 'not a whole backup'],
  ['an absolute path', pack(entry('/tmp/evil', 'x'), manifest([])), 'does not belong into one'],
  ['a step up', pack(entry('events/../../evil', 'x'), manifest([])), 'does not belong into one'],
  ['a symbolic link', pack(entry('events/link', '', ofType('2')), manifest([])), 'not a plain file'],
  ['a hard link', pack(entry('events/link', '', ofType('1')), manifest([])), 'not a plain file'],
  ['a folder', pack(entry('events/folder', '', ofType('5')), manifest([])), 'not a plain file'],
  ['a file twice', pack(entry('events/a', 'x'), entry('events/a', 'y'), manifest([])), 'in it twice'],
  ['no manifest', pack(entry('events/a.jsonl', 'x')), 'no manifest'],
  ['a wrong checksum', pack(entry('events/a.jsonl', 'x'), manifest([told])), 'events/a.jsonl is damaged'],
  ['a file missing', pack(manifest([told])), 'events/a.jsonl is missing'],
  ['a file too many', pack(entry('events/a.jsonl', 'x'), manifest([])), 'not in its manifest'],
  [
    'cut short',
    pack(entry('events/a.jsonl', 'x'.repeat(5000)), manifest([])).subarray(0, 60),
    'not a whole backup',
  ],
  [
    'a damaged header',
    pack(
      entry('events/a', 'x', (header) => header.write('b', 0)),
      manifest([]),
    ),
    'header of it is damaged',
  ],
])('%s is refused, and nothing is changed', async (_, bytes, why) => {
  const fresh = house();
  writeFileSync(fresh.at('bad.tar.gz'), bytes);
  const { code, complained } = await fresh.svc('backup', 'restore', 'bad.tar.gz');
  expect([code, complained]).toEqual([6, expect.stringContaining(why)]);
  expect(existsSync(fresh.at('.config'))).toBe(false);
  expect(readdirSync(fresh.at('svc')).filter((name) => name !== 'daemon.lock')).toEqual([]);
});
