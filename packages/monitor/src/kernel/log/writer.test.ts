import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryFolder, until } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EventDraft } from './event-line.ts';
import { type LogEntry, LogNotWritable } from './log-entry.ts';
import type { MissingLines } from './missing-lines.ts';
import { createMonthWriter } from './month-file.ts';
import { recoverTail } from './recovery.ts';
import { createFaultyDisk, type Faults } from './testing/faulty-disk.ts';
import { createTestClock, createTestIds, draft, host, readAllLines, START } from './testing/sample-log.ts';
import { createLineEncoder, createLogWriter, type LogWriterOptions } from './writer.ts';

function openWriter(folder: string, options: Partial<LogWriterOptions> = {}) {
  const disk = createFaultyDisk();
  const clock = createTestClock();
  const durable: LogEntry[] = [];
  const failing: (string | null)[] = [];
  const recover = () => recoverTail({ folder, now: clock.time }).tail;
  const tail = recover();
  const writer = createLogWriter({
    clock,
    tail,
    encode: createLineEncoder({ host, newId: createTestIds() }),
    month: createMonthWriter({ folder, tail, recover, disk }),
    onDurable: (entries) => durable.push(...entries),
    onFailing: (reason) => failing.push(reason),
    ...options,
  });
  return { writer, disk, clock, durable, failing, file: join(folder, '2026-11.jsonl') };
}

function appendMany(append: (draft: EventDraft) => Promise<unknown>, count: number) {
  return Promise.allSettled(
    Array.from({ length: count }, (_, index) => append(draft({ detail: { index } }))),
  );
}

describe('group commit', () => {
  test('many appends share few syncs, and are in the order of their calls', async () => {
    const folder = temporaryFolder();
    const { writer, disk } = openWriter(folder);
    await appendMany(writer.append, 900);
    expect(disk.counts.syncs).toBe(1);
    expect(readAllLines(folder).map((line) => [line.seq, line.detail['index']])).toEqual(
      Array.from({ length: 900 }, (_, index) => [index + 1, index]),
    );
  });

  test('a caller is answered only after the sync, and what arrives meanwhile goes into one commit', async () => {
    const { writer, disk, durable } = openWriter(temporaryFolder());
    const release = disk.holdSyncs();
    let acknowledged = 0;
    const first = writer.append(draft()).then(() => (acknowledged += 1));
    await until(() => disk.counts.syncs === 1);
    const others = Array.from({ length: 50 }, () => writer.append(draft()).then(() => (acknowledged += 1)));
    await nextTurn();
    expect([acknowledged, durable.length, writer.stats().queued]).toEqual([0, 0, 50]);
    release();
    await Promise.all([first, ...others]);
    expect([acknowledged, durable.length, disk.counts.syncs]).toEqual([51, 51, 2]);
  });

  test('entries have the position of the bytes', async () => {
    const folder = temporaryFolder();
    const { writer, durable, file } = openWriter(folder);
    await Promise.all(['é', '漢字', '🙂'].map((text) => writer.append(draft({ detail: { text } }))));
    await writer.append(draft());
    const bytes = readFileSync(file);
    for (const { offset, length, text } of durable) {
      expect(bytes.toString('utf8', offset, offset + length + 1)).toBe(`${text}\n`);
    }
  });

  test('batches are bounded', async () => {
    const { writer, disk } = openWriter(temporaryFolder(), { maxBatchLines: 10 });
    await appendMany(writer.append, 95);
    expect(disk.counts.syncs).toBe(10);
  });

  test('reports every commit', async () => {
    const commits: number[] = [];
    const { writer } = openWriter(temporaryFolder(), { onCommit: ({ lines }) => commits.push(lines) });
    await appendMany(writer.append, 7);
    await writer.append(draft());
    expect(commits).toEqual([7, 1]);
    expect(writer.stats()).toMatchObject({ commits: 2, lines: 8, lastSeq: 8, failing: null });
  });

  test('refuses when too many wait for a stuck disk', async () => {
    const { writer, disk } = openWriter(temporaryFolder(), { maxQueued: 20 });
    const release = disk.holdSyncs();
    const stuck = writer.append(draft());
    await until(() => disk.counts.syncs === 1);
    const waiting = appendMany(writer.append, 20);
    await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
    release();
    await stuck;
    expect((await waiting).every(({ status }) => status === 'fulfilled')).toBe(true);
  });

  test('close waits for what was accepted, and refuses what comes after', async () => {
    const folder = temporaryFolder();
    const { writer } = openWriter(folder);
    const accepted = appendMany(writer.append, 30);
    await writer.close();
    expect((await accepted).every(({ status }) => status === 'fulfilled')).toBe(true);
    await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
  });
});

describe('drafts', () => {
  test('one that is not JSON fails alone and takes no seq', async () => {
    const folder = temporaryFolder();
    const { writer } = openWriter(folder);
    const results = await Promise.allSettled([
      writer.append(draft()),
      writer.append(draft({ detail: { big: 10n } })),
      writer.append(draft()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('a line with its newline is at most 64 KiB', async () => {
    const { writer, durable } = openWriter(temporaryFolder());
    for (const size of [65_000, 65_400, 70_000, 500_000]) {
      await writer.append(draft({ detail: { text: '漢'.repeat(size), more: 'x'.repeat(size) } }));
    }
    expect(durable).toHaveLength(4);
    for (const { length, line } of durable) {
      expect(length).toBeLessThan(65_536);
      expect(line.detail['cut']).toBeDefined();
    }
  });

  test('a draft cannot bring its own seq', async () => {
    const { writer } = openWriter(temporaryFolder());
    const line = await writer.append(draft());
    expect((await writer.append({ ...line, seq: 99, id: 'mine' } as EventDraft)).seq).toBe(2);
  });
});

describe('time', () => {
  test('a clock that is set back does not move lines back in time', async () => {
    const { writer, clock } = openWriter(temporaryFolder());
    const first = await writer.append(draft());
    clock.time -= 3_600_000;
    const second = await writer.append(draft());
    expect(second.ts).toBe(first.ts);
    expect(writer.stats().clockBehindMs).toBe(3_600_000);
    clock.time = START + 5;
    expect((await writer.append(draft())).ts).toBe(new Date(START + 5).toISOString());
  });

  test('after a start with the right clock lines get its time again, in the newest file, in the order of seq', async () => {
    const folder = temporaryFolder();
    const ahead = openWriter(folder);
    await ahead.writer.append(draft());
    ahead.clock.time = Date.UTC(2026, 11, 1);
    await appendMany(ahead.writer.append, 2);
    ahead.clock.time = START;
    expect((await ahead.writer.append(draft())).ts).toBe('2026-12-01T00:00:00.000Z');
    await ahead.writer.close();
    const right = openWriter(folder);
    right.clock.time = START + 60_000;
    expect(await right.writer.append(draft())).toMatchObject({ seq: 5, ts: '2026-11-15T12:01:00.000Z' });
    expect(right.writer.stats()).toMatchObject({ file: '2026-12.jsonl', clockBehindMs: 0 });
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    right.clock.time = Date.UTC(2027, 0, 1);
    await right.writer.append(draft());
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    await right.writer.close();
  });

  test('an ordinary correction of the clock does not move lines back, even across a start', async () => {
    const folder = temporaryFolder();
    const before = openWriter(folder);
    const { ts } = await before.writer.append(draft());
    await before.writer.close();
    const after = openWriter(folder, { clock: { now: () => START - 120_000 } });
    expect((await after.writer.append(draft())).ts).toBe(ts);
    await after.writer.close();
  });

  test('a month ends at midnight UTC; the new file name is made durable', async () => {
    // A time zone in which the month differs from UTC for most of a day.
    vi.stubEnv('TZ', 'Pacific/Auckland');
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = temporaryFolder();
    const { writer, clock, disk } = openWriter(folder);
    clock.time = Date.UTC(2026, 11, 1) - 1;
    await writer.append(draft());
    const before = disk.counts.folderSyncs;
    clock.time += 1;
    await writer.append(draft());
    expect(disk.counts.folderSyncs).toBe(before + 1);
    clock.time -= 10_000;
    await writer.append(draft());
    expect(readFileSync(join(folder, '2026-11.jsonl'), 'utf8').split('\n')).toHaveLength(2);
    expect(readFileSync(join(folder, '2026-12.jsonl'), 'utf8').split('\n')).toHaveLength(3);
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test('seq continues across restarts and months', async () => {
    const folder = temporaryFolder();
    for (let month = 8; month < 12; month += 1) {
      const { writer, clock } = openWriter(folder);
      clock.time = Date.UTC(2026, month, 3);
      await appendMany(writer.append, 3);
      await writer.close();
    }
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  });
});

describe('a failing disk', () => {
  const faults: [string, Faults][] = [
    ['full before the first byte', { write: 'ENOSPC' }],
    ['full in the middle of a batch', { space: 1_000 }],
    ['failing to sync', { sync: 'EIO' }],
  ];
  test.each(faults)(
    '%s: all callers get the failure, nothing stays, and it recovers on its own',
    async (_, fault) => {
      const folder = temporaryFolder();
      const { writer, disk, durable, file, failing } = openWriter(folder);
      await writer.append(draft());
      const before = readFileSync(file);
      disk.faults = fault;
      const results = await appendMany(writer.append, 20);
      for (const result of results) {
        expect(result).toMatchObject({
          status: 'rejected',
          reason: { code: 'log-not-writable', status: 503 },
        });
      }
      expect(readFileSync(file)).toEqual(before);
      expect(durable).toHaveLength(1);
      expect(writer.stats().failing).not.toBeNull();
      disk.faults = {};
      expect((await writer.append(draft())).seq).toBe(2);
      expect(writer.stats().failing).toBeNull();
      expect(failing).toEqual([expect.any(String), null]);
      expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2]);
    },
  );

  test('short writes are completed', async () => {
    const folder = temporaryFolder();
    const { writer, disk } = openWriter(folder);
    disk.faults = { atMost: 7 };
    await appendMany(writer.append, 5);
    expect(readAllLines(folder)).toHaveLength(5);
  });

  test('nothing is written while the rest of a failed batch cannot be cut off', async () => {
    const folder = temporaryFolder();
    const { writer, disk, file } = openWriter(folder);
    await writer.append(draft());
    disk.faults = { space: 100, truncate: 'EIO' };
    await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
    const torn = readFileSync(file);
    disk.faults = { truncate: 'EIO' };
    const writes = disk.counts.writes;
    await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
    expect(disk.counts.writes).toBe(writes);
    expect(readFileSync(file)).toEqual(torn);
    disk.faults = {};
    expect((await writer.append(draft())).seq).toBe(2);
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('the rest of a failed batch is cut off even when the month has changed meanwhile', async () => {
    const folder = temporaryFolder();
    const { writer, disk, clock } = openWriter(folder);
    await writer.append(draft());
    disk.faults = { sync: 'EIO', truncate: 'EIO' };
    await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
    disk.faults = {};
    clock.time = Date.UTC(2026, 11, 2);
    await writer.append(draft());
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test.each([{ open: 'EACCES' }, { syncFolder: 'EIO' }])(
    'a file that cannot be opened: %o',
    async (fault) => {
      const folder = temporaryFolder();
      const { writer, disk } = openWriter(folder);
      disk.faults = fault;
      await expect(writer.append(draft())).rejects.toBeInstanceOf(LogNotWritable);
      disk.faults = {};
      expect((await writer.append(draft())).seq).toBe(1);
    },
  );

  test('whatever fails and when: the log contains exactly what was acknowledged, in order', async () => {
    const fault = fc.constantFrom<Faults>(
      {},
      {},
      { write: 'ENOSPC' },
      { space: 150 },
      { space: 700, truncate: 'EIO' },
      { sync: 'EIO' },
      { sync: 'EIO', truncate: 'EIO' },
      { open: 'EMFILE' },
      { syncFolder: 'EIO' },
      { atMost: 11 },
    );
    const step = fc.record({
      fault,
      lines: fc.integer({ min: 1, max: 6 }),
      hours: fc.integer({ min: -30, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const folder = join(temporaryFolder(), 'events');
        const { writer, disk, clock } = openWriter(folder);
        const acknowledged: string[] = [];
        for (const { fault: next, lines, hours } of steps) {
          disk.faults = { ...next };
          clock.time += hours * 3_600_000;
          const results = await Promise.allSettled(
            Array.from({ length: lines }, () => writer.append(draft())),
          );
          for (const result of results) if (result.status === 'fulfilled') acknowledged.push(result.value.id);
        }
        disk.faults = {};
        acknowledged.push((await writer.append(draft())).id);
        await writer.close();
        const lines = readAllLines(folder);
        expect(lines.map(({ id }) => id)).toEqual(acknowledged);
        expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
        expect(lines.map(({ ts }) => ts).toSorted()).toEqual(lines.map(({ ts }) => ts));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a file changed by another program', () => {
  test('removed: the log continues in a new one', async () => {
    const folder = join(temporaryFolder(), 'events');
    const { writer } = openWriter(folder);
    await writer.append(draft());
    rmSync(folder, { recursive: true });
    expect((await writer.append(draft())).seq).toBe(2);
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([2]);
  });

  test.each([
    ['moved away', (file: string) => renameSync(file, `${file}.moved`)],
    ['removed', (file: string) => rmSync(file)],
    [
      'replaced by an older copy',
      (file: string) => {
        writeFileSync(`${file}.copy`, `${readFileSync(file, 'utf8').split('\n')[0]}\n`);
        renameSync(`${file}.copy`, file);
      },
    ],
    ['cut', (file: string) => truncateSync(file, 0)],
  ])(
    '%s while a line is being synced: the line is refused, and the next one is in the log',
    async (_, change) => {
      const folder = temporaryFolder();
      const { writer, disk, file } = openWriter(folder);
      await writer.append(draft());
      const letGo = disk.holdSyncs();
      const refused = writer.append(draft({ detail: { text: 'refused' } })).catch((error: unknown) => error);
      await until(() => disk.counts.syncs === 2);
      change(file);
      letGo();
      expect(await refused).toBeInstanceOf(LogNotWritable);
      const { id } = await writer.append(draft());
      const lines = readAllLines(folder);
      expect(lines.at(-1)?.id).toBe(id);
      expect(JSON.stringify(lines)).not.toContain('refused');
      if (existsSync(`${file}.moved`)) expect(readFileSync(`${file}.moved`, 'utf8')).not.toContain('refused');
      await writer.close();
    },
  );

  test('missing lines are reported, and their numbers are not used again', async () => {
    const folder = temporaryFolder();
    const missing: MissingLines[] = [];
    const { writer, file } = openWriter(folder, { onMissing: (lines) => missing.push(lines) });
    await appendMany(writer.append, 3);
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    truncateSync(file, first.length + 1);
    expect(writer.stats().fileChanged).toBe(true);
    expect((await writer.append(draft())).seq).toBe(4);
    expect(missing).toEqual([{ from: 2, to: 3 }]);
    expect(writer.stats().fileChanged).toBe(false);
    await writer.close();
  });

  test('bytes added: they go to quarantine', async () => {
    const folder = temporaryFolder();
    const { writer, file } = openWriter(folder);
    await writer.append(draft());
    appendFileSync(file, 'hello\n');
    expect((await writer.append(draft())).seq).toBe(2);
    expect(readAllLines(folder)).toHaveLength(2);
    expect(existsSync(join(folder, 'quarantine'))).toBe(true);
  });

  test('cut in the middle of a line: the rest of it goes to quarantine', async () => {
    const folder = temporaryFolder();
    const { writer, file } = openWriter(folder);
    await appendMany(writer.append, 3);
    truncateSync(file, readFileSync(file).length - 10);
    expect((await writer.append(draft())).seq).toBe(4);
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2, 4]);
  });

  test('an empty file of a later month does not matter', async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '2026-12.jsonl'), '');
    const { writer, clock } = openWriter(folder);
    await writer.append(draft());
    clock.time = Date.UTC(2026, 11, 2);
    await writer.append(draft());
    expect(readAllLines(folder).map(({ seq }) => seq)).toEqual([1, 2]);
  });
});
