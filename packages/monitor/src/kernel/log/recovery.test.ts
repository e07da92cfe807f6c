import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { recoverTail } from './recovery.ts';
import { lineText } from './testing/sample-log.ts';

const NOW = 1_763_000_000_000;
const NAME = '2026-11.jsonl';

function folderWith(files: Record<string, string | Uint8Array>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

describe('the end of the log', () => {
  test('no folder, or no line in it, is an empty log', () => {
    const empty = { tail: { file: null, length: 0, seq: 0, time: 0 }, torn: [] };
    expect(recoverTail({ folder: join(temporaryFolder(), 'none'), now: NOW })).toEqual(empty);
    expect(recoverTail({ folder: folderWith({ [NAME]: '' }), now: NOW })).toEqual(empty);
  });

  test('is after the last line of the newest file', () => {
    const text = `${lineText(1)}\n${lineText(2)}\n`;
    const folder = folderWith({ '2026-10.jsonl': 'x', [NAME]: text, 'notes.txt': 'x' });
    const { tail, torn } = recoverTail({ folder, now: NOW });
    expect(tail).toEqual({
      file: NAME,
      length: text.length,
      seq: 2,
      time: Date.parse(JSON.parse(lineText(2)).ts),
    });
    expect(torn).toEqual([]);
  });

  test('a newest file without a line defers to the one before', () => {
    const folder = folderWith({
      '2026-10.jsonl': `${lineText(7)}\n`,
      '2026-11.jsonl': 'gar\nbage\n',
      '2026-12.jsonl': '',
    });
    const { tail, torn } = recoverTail({ folder, now: NOW });
    expect(tail).toMatchObject({ file: '2026-10.jsonl', seq: 7 });
    expect(torn).toMatchObject([{ file: '2026-11.jsonl', offset: 0, bytes: 9 }]);
    expect(readFileSync(join(folder, '2026-11.jsonl'), 'utf8')).toBe('');
  });
});

describe('a torn tail', () => {
  const good = `${lineText(1)}\n${lineText(2)}\n`;

  test('that is longer than a crash can leave is cut off, and only its beginning is kept', () => {
    const folder = folderWith({ [NAME]: good });
    truncateSync(join(folder, NAME), 200 * 1024 * 1024);
    const { tail, torn } = recoverTail({ folder, now: NOW });
    expect(tail).toMatchObject({ seq: 2, length: good.length });
    expect(torn).toMatchObject([{ offset: good.length, bytes: 200 * 1024 * 1024 - good.length }]);
    expect(statSync(torn[0]?.quarantine ?? '').size).toBeLessThan(50 * 1024 * 1024);
    expect(statSync(join(folder, NAME)).size).toBe(good.length);
  });

  test('of any length goes to quarantine, and the lines before it stay', () => {
    const last = Buffer.from(`${lineText(3, 'é🙂')}\n`);
    for (let length = 1; length < last.length; length += 1) {
      const part = last.subarray(0, length);
      const folder = folderWith({ [NAME]: Buffer.concat([Buffer.from(good), part]) });
      const { tail, torn } = recoverTail({ folder, now: NOW });
      expect(tail).toMatchObject({ seq: 2, length: good.length });
      expect(torn).toMatchObject([{ file: NAME, offset: good.length, bytes: length }]);
      expect(torn[0]?.quarantine).toBe(join(folder, 'quarantine', `${NAME}-${good.length}-${NOW}.torn`));
      expect(readFileSync(torn[0]?.quarantine ?? '')).toEqual(part);
      expect(readFileSync(join(folder, NAME), 'utf8')).toBe(good);
    }
  });

  test.each([
    ['zeros, as a file system may leave them', Buffer.alloc(200_000)],
    ['lines that are not events', Buffer.from('{"a":1}\nnull\n[]\n{"seq":"3"}\n')],
    ['a megabyte and more without a newline', Buffer.alloc(1_500_000, 'x')],
    ['a line that is too long', Buffer.from(`${lineText(3, 'x'.repeat(1_200_000))}\n`)],
    ['an end of half a character', Buffer.from([0xe6, 0xbc])],
  ])('may be %s', (_, bytes) => {
    const folder = folderWith({ [NAME]: Buffer.concat([Buffer.from(good), bytes]) });
    const { tail, torn } = recoverTail({ folder, now: NOW });
    expect(tail).toMatchObject({ seq: 2, length: good.length });
    expect(readFileSync(torn[0]?.quarantine ?? '')).toEqual(bytes);
  });

  test('may be a commit with a missing page in the middle: its whole lines go too', () => {
    const ts = JSON.parse(lineText(3)).ts;
    const commit = Buffer.from(
      [3, 4, 5, 6].map((seq) => `${lineText(seq, 'x'.repeat(300), { ts })}\n`).join(''),
    );
    commit.fill(0, 700, 1100);
    const folder = folderWith({ [NAME]: Buffer.concat([Buffer.from(good), commit]) });
    const { tail, torn } = recoverTail({ folder, now: NOW });
    const third = commit.indexOf('\n') + 1;
    expect(tail).toMatchObject({ seq: 3, length: good.length + third });
    expect(readFileSync(torn[0]?.quarantine ?? '')).toEqual(commit.subarray(third));
  });

  test('does not start at zeros that an earlier commit was written after', () => {
    const damaged = Buffer.from(`${lineText(1)}\n${'\0'.repeat(4096)}\n${lineText(3)}\n${lineText(4)}\n`);
    const folder = folderWith({ [NAME]: damaged });
    expect(recoverTail({ folder, now: NOW })).toMatchObject({
      tail: { seq: 4, length: damaged.length },
      torn: [],
    });
  });

  test('is found after lines longer than one chunk of the search', () => {
    const long = `${lineText(1)}\n${lineText(2, 'y'.repeat(300_000))}\n`;
    const folder = folderWith({ [NAME]: `${long}half` });
    expect(recoverTail({ folder, now: NOW }).tail).toMatchObject({ seq: 2, length: long.length });
  });

  test('found a second time is a second file', () => {
    const folder = folderWith({ [NAME]: `${good}half` });
    mkdirSync(join(folder, 'quarantine'));
    recoverTail({ folder, now: NOW });
    writeFileSync(join(folder, NAME), `${good}half`);
    const { torn } = recoverTail({ folder, now: NOW + 1 });
    expect(torn).toHaveLength(1);
  });
});
