import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SignalFile } from '@svc/contract/signal-file';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { putSignal, sampleSignal } from '../testing/sample-signal.ts';
import { signalHash } from './read-signal.ts';
import { createSignalStore } from './signal-store.ts';

const updateScript = join(import.meta.dirname, '../testing', 'update-signal.ts');

function setUp() {
  const folder = temporaryFolder();
  const runsDir = join(folder, 'runs');
  const locksDir = join(folder, 'locks');
  const store = createSignalStore({
    runsDir,
    locks: createFileLocks({ folder: locksDir, timeoutMs: WAIT_MS }),
    now: () => new Date('2026-05-05T05:05:05Z'),
  });
  return { folder, runsDir, locksDir, store };
}

describe('update', () => {
  test('keeps order, spacing, unknown fields and numbers that would be rounded', async () => {
    const { runsDir, store } = setUp();
    const text = `{
    "later": {"10": 1, "2": 12345678901234567890, "x": 1.0},
    "status": "implementing",
    "phase": 3, "ticket": "ENG-1",
    "orchestrator": "orch-1",   "workerName": "w",
    "startedAt": "2026-01-02T03:04:05Z",
    "updatedAt": "2026-01-02T03:04:05Z",
    "pr": {"number": 7, "mine": [1, {"a": 2}]}
}
`;
    const path = putSignal(runsDir, sampleSignal(), text);
    const result = await store.update('orch-1', 'ENG-1', ({ pr, ...signal }) => ({
      ...signal,
      status: 'merged',
      pr: { ...pr, state: 'merged' },
    }));
    expect(result).toMatchObject({ ok: true, changed: true, signal: { status: 'merged' } });
    expect(readFileSync(path, 'utf8')).toBe(
      text
        .replace('"implementing"', '"merged"')
        .replace('"updatedAt": "2026-01-02T03:04:05Z"', '"updatedAt": "2026-05-05T05:05:05.000Z"')
        .replace('{"a": 2}]}', '{"a": 2}], "state": "merged"}'),
    );
  });

  test('a field can be removed', async () => {
    const { runsDir, store } = setUp();
    const path = putSignal(runsDir, sampleSignal({ error: 'x', pid: 5 }));
    await store.update('orch-1', 'ENG-1', ({ error: _, ...signal }) => signal);
    const after = JSON.parse(readFileSync(path, 'utf8'));
    expect(after).toEqual(sampleSignal({ pid: 5, updatedAt: '2026-05-05T05:05:05.000Z' }));
  });

  test.each([
    ['null', () => null],
    ['the same', (signal: SignalFile) => ({ ...signal })],
  ])('%s leaves the file alone', async (_name, change) => {
    const { runsDir, store } = setUp();
    const path = putSignal(runsDir, sampleSignal());
    const before = statSync(path, { bigint: true }).mtimeNs;
    expect(await store.update('orch-1', 'ENG-1', change)).toMatchObject({ ok: true, changed: false });
    expect(statSync(path, { bigint: true }).mtimeNs).toBe(before);
  });

  test('a missing file is reported as missing, and nothing is created', async () => {
    const { folder, store } = setUp();
    expect(await store.update('orch-1', 'ENG-1', (signal) => signal)).toEqual({ ok: false, why: 'missing' });
    expect(await store.update('..', 'ENG-1', (signal) => signal)).toEqual({ ok: false, why: 'missing' });
    expect(readdirSync(folder)).toEqual(['locks']);
  });

  test('a change to another name, or to an invalid signal file, is a bug', async () => {
    const { runsDir, store } = setUp();
    const path = putSignal(runsDir, sampleSignal());
    const rename = store.update('orch-1', 'ENG-1', (signal) => ({ ...signal, ticket: 'ENG-2' }));
    await expect(rename).rejects.toThrow('must not rename it');
    const spoil = store.update('orch-1', 'ENG-1', (signal) => ({ ...signal, status: 'no' as 'done' }));
    await expect(spoil).rejects.toThrow('Invalid option');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(sampleSignal());
  });

  test('4 processes, 50 updates each: none is lost', async () => {
    const { runsDir, locksDir, store } = setUp();
    putSignal(runsDir, sampleSignal({ count: 0 }));
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [updateScript, runsDir, locksDir, 'orch-1', 'ENG-1', '50', String(WAIT_MS)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual(Array(4).fill(0));
    expect(await store.read('orch-1', 'ENG-1')).toMatchObject({ state: 'ok', signal: { count: 200 } });
    expect(readdirSync(join(runsDir, 'orch-1', 'workers'))).toEqual(['ENG-1.json']);
  });

  test('killed repeatedly midway: the file is complete, and what was acknowledged is in it', async () => {
    const { runsDir, locksDir, store } = setUp();
    putSignal(runsDir, sampleSignal({ count: 0 }));
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(
        process.execPath,
        [updateScript, runsDir, locksDir, 'orch-1', 'ENG-1', '0', String(WAIT_MS)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        // Any time will do: the delay only spreads the kills over the steps of an update.
        if (output === '') setTimeout(() => child.kill('SIGKILL'), 5 + round * 7);
        output += chunk.toString();
      });
      await once(child, 'close');
      const acknowledged = Number(output.trimEnd().split('\n').at(-1));
      const read = await store.read('orch-1', 'ENG-1');
      const count = read.state === 'ok' ? Number(read.signal['count']) : -1;
      // One more may be on disk without having been acknowledged.
      expect([acknowledged, acknowledged + 1]).toContain(count);
    }
  });
});

describe('files that cannot be parsed', () => {
  const broken: [string, string | Buffer, string][] = [
    ['empty', '', 'is empty.'],
    ['half', '{"ticket": "ENG-1", "sta', 'is not valid JSON'],
    ['an array', '[]', 'is not a status file'],
    ['another status', JSON.stringify({ ...sampleSignal(), status: 'sleeping' }), 'status: '],
    ['another ticket', JSON.stringify(sampleSignal({ ticket: 'ENG-2' })), 'names another ticket'],
    ['another orchestrator', JSON.stringify(sampleSignal({ orchestrator: 'o' })), 'another orchestrator'],
    ['too large', JSON.stringify(sampleSignal({ error: 'x'.repeat(1024 * 1024) })), 'at most 1048576'],
    ['not text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'is not UTF-8'],
    ['too deep', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'levels deep'],
    ['a key twice', '{"ticket": "ENG-1", "ticket": "ENG-1"}', 'twice'],
  ];

  test.each(broken)(
    '%s: corrupt, with the reason, and never overwritten',
    async (_name, content, problem) => {
      const { runsDir, store } = setUp();
      const path = putSignal(runsDir, sampleSignal());
      writeFileSync(path, content);
      const corrupt = { path, problem: expect.stringContaining(problem) };
      expect(await store.read('orch-1', 'ENG-1')).toEqual({ state: 'corrupt', ...corrupt });
      const change = (signal: SignalFile): SignalFile => ({ ...signal, status: 'done' });
      expect(await store.update('orch-1', 'ENG-1', change)).toEqual({
        ok: false,
        why: 'corrupt',
        ...corrupt,
      });
      expect(await store.create(sampleSignal())).toEqual({ ok: false, why: 'exists' });
      expect(readFileSync(path)).toEqual(Buffer.from(content));
    },
  );

  test('any JSON in a file is read as a signal or as corrupt, and an update keeps what it does not touch', async () => {
    const { runsDir, store } = setUp();
    const path = putSignal(runsDir, sampleSignal());
    const anything = fc.oneof(
      fc.json().map((text): unknown => JSON.parse(text)),
      fc.dictionary(fc.string(), fc.jsonValue()).map((more) => ({ ...more, ...sampleSignal() })),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (given) => {
        // As in JSON: there is no minus zero.
        const value: unknown = JSON.parse(JSON.stringify(given));
        writeFileSync(path, JSON.stringify(value));
        const read = await store.read('orch-1', 'ENG-1');
        expect(read.state === 'ok').toBe(SignalFile.safeParse(value).success);
        const result = await store.update('orch-1', 'ENG-1', (signal) => ({ ...signal, status: 'done' }));
        expect(result.ok).toBe(read.state === 'ok');
        const after: unknown = JSON.parse(readFileSync(path, 'utf8'));
        if (!result.ok) {
          expect(after).toEqual(value);
          return;
        }
        expect(after).toEqual({ ...(value as object), status: 'done', updatedAt: result.signal.updatedAt });
        expect(Object.keys(after as object)).toEqual(Object.keys(value as object));
      }),
      { numRuns: 150 },
    );
  });
});

test('create makes the folders, and only once', async () => {
  const { store } = setUp();
  const made = await store.create(sampleSignal());
  expect(made).toMatchObject({ ok: true });
  if (made.ok) expect(statSync(made.path).mode & 0o777).toBe(0o600);
  expect(await store.create(sampleSignal())).toEqual({ ok: false, why: 'exists' });
  await expect(store.create(sampleSignal({ ticket: '../x' }))).rejects.toThrow('is not a valid');
});

test('list returns signal files, follows no link, and counts what it ignores', async () => {
  const { folder, runsDir, store } = setUp();
  expect(await store.list()).toEqual({ signals: [], ignored: 0, tooMany: false, problems: [] });
  const path = putSignal(runsDir, sampleSignal());
  putSignal(runsDir, sampleSignal({ orchestrator: 'orch-2', ticket: 'ENG-2' }), '{');
  const workers = dirname(path);
  const outside = join(folder, 'outside.json');
  writeFileSync(outside, JSON.stringify(sampleSignal({ ticket: 'ENG-9' })));
  symlinkSync(outside, join(workers, 'ENG-9.json'));
  mkdirSync(join(workers, 'folder.json'));
  for (const name of ['sp ace.json', `${'x'.repeat(121)}.json`, '.ENG-1.json.1.tmp', 'notes.txt'])
    writeFileSync(join(workers, name), '{}');
  writeFileSync(join(runsDir, 'readme'), '');
  mkdirSync(join(runsDir, 'bad name', 'workers'), { recursive: true });
  symlinkSync(mkdtempSync(join(folder, 'elsewhere-')), join(runsDir, 'linked'));
  mkdirSync(join(runsDir, 'orch-3'));
  symlinkSync(workers, join(runsDir, 'orch-3', 'workers'));
  const { signals, ignored } = await store.list();
  expect(signals.map(({ orchestrator, ticket, state }) => `${orchestrator}/${ticket} ${state}`)).toEqual([
    'orch-1/ENG-1 ok',
    'orch-2/ENG-2 corrupt',
  ]);
  expect(ignored).toBe(7);
  expect(await store.read('orch-1', 'ENG-9')).toMatchObject({ state: 'corrupt' });
  expect(await store.read('orch-3', 'ENG-1')).toMatchObject({ state: 'corrupt' });
});

test('the hash covers the meaning, without the heartbeat', () => {
  const signal = sampleSignal({ pr: { number: 1, url: 'u' } });
  const turned = Object.fromEntries(Object.entries(signal).toReversed()) as SignalFile;
  expect(signalHash(turned)).toBe(signalHash(signal));
  expect(signalHash({ ...signal, updatedAt: '2027-01-01T00:00:00Z' })).toBe(signalHash(signal));
  expect(signalHash({ ...signal, phase: 'other' })).not.toBe(signalHash(signal));
});
