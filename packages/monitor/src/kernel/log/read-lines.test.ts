import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RawLine } from './log-entry.ts';
import { type CorruptLine, type ReadOptions, readEntries, readLines } from './read-lines.ts';
import { lineText } from './testing/sample-log.ts';

async function readAll(options: ReadOptions): Promise<RawLine[]> {
  const all: RawLine[] = [];
  for await (const lines of readLines(options)) all.push(...lines);
  return all;
}

function write(folder: string, file: string, content: string): void {
  writeFileSync(join(folder, file), content);
}

describe('reading forwards', () => {
  test('returns every whole line with its position, whatever the chunk size', async () => {
    const texts = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => text.replaceAll('\n', ' ')),
    );
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.string({ maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        async (lines, rest, chunkBytes) => {
          const folder = temporaryFolder();
          const content = lines.map((line) => `${line}\n`).join('') + rest.replaceAll('\n', '');
          write(folder, '2026-11.jsonl', content);
          const bytes = Buffer.from(content);
          const read = await readAll({ folder, chunkBytes });
          expect(read.map(({ text }) => text)).toEqual(lines.map((line) => Buffer.from(line).toString()));
          for (const { offset, length, text } of read) {
            expect(bytes.toString('utf8', offset, offset + length)).toBe(text);
            expect(bytes[offset + length]).toBe(10);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('continues across months, and can start anywhere', async () => {
    const folder = temporaryFolder();
    write(folder, '2026-10.jsonl', 'a\nbb\n');
    write(folder, '2026-11.jsonl', '');
    write(folder, '2026-12.jsonl', 'ccc\n');
    const texts = async (from?: ReadOptions['from']) =>
      (await readAll({ folder, ...(from && { from }) })).map(({ text }) => text);
    expect(await texts()).toEqual(['a', 'bb', 'ccc']);
    expect(await texts({ file: '2026-10.jsonl', offset: 2 })).toEqual(['bb', 'ccc']);
    expect(await texts({ file: '2026-11.jsonl', offset: 0 })).toEqual(['ccc']);
    expect(await texts({ file: '2027-01.jsonl', offset: 0 })).toEqual([]);
  });

  test('returns nothing for a missing folder', async () => {
    expect(await readAll({ folder: join(temporaryFolder(), 'none') })).toEqual([]);
  });

  test('stops at the signal', async () => {
    const folder = temporaryFolder();
    write(folder, '2026-11.jsonl', 'line\n'.repeat(1000));
    const stop = new AbortController();
    let count = 0;
    for await (const lines of readLines({ folder, chunkBytes: 100, signal: stop.signal })) {
      count += lines.length;
      stop.abort();
    }
    expect(count).toBeLessThan(50);
  });
});

describe('what is not a line', () => {
  test('is skipped and reported, with its position', async () => {
    const folder = temporaryFolder();
    const huge = 'x'.repeat(1024 * 1024 + 5);
    const content = `${lineText(1)}\nnot json\n${huge}\n${lineText(2)}\n{"seq":3}\n${lineText(4)}\n`;
    write(folder, '2026-11.jsonl', content);
    const corrupt: CorruptLine[] = [];
    const seqs: number[] = [];
    for await (const entries of readEntries({ folder, onCorrupt: (line) => corrupt.push(line) })) {
      seqs.push(...entries.map(({ line }) => line.seq));
    }
    expect(seqs).toEqual([1, 2, 4]);
    const skipped = corrupt.map(({ offset, length }) => content.slice(offset, offset + length));
    expect(skipped.toSorted()).toEqual(['not json', '{"seq":3}', huge].toSorted());
  });

  test('takes no memory, however long it is', async () => {
    const folder = temporaryFolder();
    write(folder, '2026-11.jsonl', `${'x'.repeat(40_000_000)}\n${lineText(1)}\n`);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const corrupt: CorruptLine[] = [];
    for await (const lines of readLines({ folder, onCorrupt: (line) => corrupt.push(line) })) {
      expect(lines).toHaveLength(1);
      most = process.memoryUsage().arrayBuffers - before;
    }
    expect(corrupt).toEqual([{ file: '2026-11.jsonl', offset: 0, length: 40_000_000 }]);
    expect(most).toBeLessThan(8_000_000);
  });
});
