import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { createRandom, temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { compressMonth, unpackMonth } from './compress-month.ts';
import { findEnd, findPositionOfSeq, findPositionOfTime } from './find-position.ts';
import { followLog } from './follow.ts';
import { createLineReader } from './line-reader.ts';
import { openMonth } from './month-bytes.ts';
import { listFilledMonthFiles, listMonthFiles } from './month-file.ts';
import { readEntries, readLines } from './read-lines.ts';
import { recoverTail } from './recovery.ts';
import { draft, lineText, openTestLog, START } from './testing/sample-log.ts';

const OLD = '2026-10.jsonl';
const NEW = '2026-11.jsonl';
/** The old month is of several blocks, and lines lie across their borders. */
const LINES = 4_000;

function logFolder(): string {
  const folder = temporaryFolder();
  const text = (seq: number): string => `${lineText(seq, `é${'x'.repeat((seq * 7919) % 1_500)}`)}\n`;
  const lines = Array.from({ length: LINES + 10 }, (_, index) => text(index + 1));
  writeFileSync(join(folder, OLD), lines.slice(0, LINES).join(''));
  writeFileSync(join(folder, NEW), lines.slice(LINES).join(''));
  return folder;
}

async function allLines(folder: string, seq?: number) {
  const from = seq === undefined ? null : findPositionOfSeq(folder, seq);
  const lines = [];
  for await (const batch of readLines({ folder, ...(from && { from }) })) lines.push(...batch);
  return lines;
}

describe('a compressed month', () => {
  test('is read as the plain one was, by every reader', async () => {
    const folder = logFolder();
    const look = async () => ({
      files: [listMonthFiles(folder), listFilledMonthFiles(folder)],
      lines: await allLines(folder),
      later: await allLines(folder, 3_333),
      places: [1, 2, 777, LINES, LINES + 1, LINES + 11].map((seq) => findPositionOfSeq(folder, seq)),
      times: [0, START + 1_234_500, START + 9e9].map((time) => findPositionOfTime(folder, time)),
      end: findEnd(folder),
      tail: recoverTail({ folder, now: 0 }),
    });
    const before = await look();
    const { bytes, storedBytes } = compressMonth(folder, OLD);
    expect(readdirSync(folder).toSorted()).toEqual([`${OLD}.zst`, NEW]);
    expect(bytes).toBeGreaterThan(3 * 1024 * 1024);
    expect(storedBytes).toBeLessThan(bytes / 5);
    expect(await look()).toEqual(before);
    const reader = createLineReader({ folder });
    for (const { text, file, offset, length } of before.lines.filter((_, index) => index % 97 === 0))
      expect(reader.read({ seq: JSON.parse(text).seq, file, offset, length })?.text).toBe(text);
    reader.close();
  });

  test('any bytes of it are those of the plain one', () => {
    const folder = logFolder();
    const plain = readFileSync(join(folder, OLD));
    compressMonth(folder, OLD);
    // Any unpacker gives all of it back, and skips the table.
    expect(zstdDecompressSync(readFileSync(join(folder, `${OLD}.zst`))).equals(plain)).toBe(true);
    const month = openMonth(folder, OLD);
    expect(month?.size()).toBe(plain.length);
    const random = createRandom(1);
    for (let turn = 0; turn < 200; turn += 1) {
      const position = random.below(plain.length + 10);
      const length = random.below(random.chance(0.1) ? 2_500_000 : 5_000);
      const target = Buffer.alloc(length + 3);
      const bytes = month?.read(target, 3, length, position) ?? -1;
      expect(target.subarray(3, 3 + bytes).equals(plain.subarray(position, position + length))).toBe(true);
    }
    month?.close();
  });

  test('is followed into the month that is written', async () => {
    const folder = logFolder();
    compressMonth(folder, OLD);
    const stop = new AbortController();
    const seqs: number[] = [];
    for await (const entries of followLog({ folder, from: { seq: 10 }, signal: stop.signal, pollMs: 20 })) {
      seqs.push(...entries.map(({ line }) => line.seq));
      if (seqs.at(-1) === LINES + 10) stop.abort();
    }
    expect(seqs).toEqual(Array.from({ length: LINES }, (_, index) => index + 11));
  });

  test('is found through the index, by a log that is open and by one that makes its index anew', async () => {
    const folder = temporaryFolder();
    const clock = { time: Date.UTC(2026, 9, 30), now: () => clock.time };
    const log = openTestLog(folder, { clock });
    await log.ready;
    for (let ticket = 0; ticket < 20; ticket += 1)
      await log.appendOnce(draft({ deliveryId: `old-${ticket}`, scope: { ticket: `T-${ticket}` } }));
    clock.time = Date.UTC(2026, 10, 2);
    await log.appendOnce(draft({ deliveryId: 'new', scope: { ticket: 'T-3' } }));
    const find = async (from: typeof log) =>
      (await from.list({ ticket: 'T-3' })).entries.map(({ text }) => text);
    const before = await find(log);
    expect(before).toHaveLength(2);
    compressMonth(join(folder, 'events'), OLD);
    expect(await find(log)).toEqual(before);
    await log.close();
    const again = openTestLog(folder, { clock, databaseFile: join(folder, 'other.db') });
    await again.ready;
    expect(await find(again)).toEqual(before);
    expect(await again.appendOnce(draft({ deliveryId: 'old-7' }))).toMatchObject({ duplicate: true });
    expect(await again.appendOnce(draft({ deliveryId: 'next' }))).toMatchObject({ seq: 22 });
    await again.close();
  });

  test('of which a block is damaged keeps the lines of the others, and the loss is told', async () => {
    const folder = logFolder();
    const before = (await allLines(folder)).length;
    compressMonth(folder, OLD);
    const descriptor = openSync(join(folder, `${OLD}.zst`), 'r+');
    writeSync(descriptor, Buffer.alloc(64, 7), 0, 64, 2_000);
    let corrupt = 0;
    let lines = 0;
    for await (const batch of readEntries({ folder, onCorrupt: () => (corrupt += 1) })) lines += batch.length;
    expect(corrupt).toBeGreaterThan(0);
    expect(lines).toBeGreaterThan(before / 2);
    expect(lines).toBeLessThan(before);
  });

  test('whose table is damaged is named', () => {
    const folder = logFolder();
    compressMonth(folder, OLD);
    writeFileSync(join(folder, `${OLD}.zst`), 'too short', { flag: 'a' });
    expect(() => openMonth(folder, OLD)).toThrow(/2026-10\.jsonl\.zst is damaged/);
  });
});

describe('a compression', () => {
  test('that was cut off leaves the plain month, and is done again', async () => {
    const folder = logFolder();
    const plain = readFileSync(join(folder, OLD));
    writeFileSync(join(folder, `.${OLD}.half.tmp`), 'half');
    writeFileSync(join(folder, `${OLD}.zst`), 'never looked at');
    expect(await allLines(folder)).toHaveLength(LINES + 10);
    compressMonth(folder, OLD);
    expect(readdirSync(folder).toSorted()).toEqual([`${OLD}.zst`, NEW]);
    unpackMonth(folder, OLD);
    expect(readFileSync(join(folder, OLD)).equals(plain)).toBe(true);
    expect(existsSync(join(folder, `${OLD}.zst`))).toBe(false);
  });

  test('of what became the newest month is undone before it is written to', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'events'));
    writeFileSync(join(folder, 'events', OLD), `${lineText(1)}\n`);
    compressMonth(join(folder, 'events'), OLD);
    expect(recoverTail({ folder: join(folder, 'events'), now: 0 }).tail).toMatchObject({ file: OLD, seq: 1 });
    expect(readdirSync(join(folder, 'events'))).toEqual([OLD]);
  });
});
