import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findEnd, findPositionOfSeq, findPositionOfTime } from './find-position.ts';
import { type Position, parseEntry } from './log-entry.ts';
import { readLines } from './read-lines.ts';
import { lineText, START } from './testing/sample-log.ts';

/** The first seq that is read from a position on. */
async function firstSeqFrom(folder: string, from: Position | null): Promise<number | null> {
  if (from === null) return null;
  for await (const lines of readLines({ folder, from })) {
    for (const raw of lines) {
      const entry = parseEntry(raw);
      if (entry !== null) return entry.line.seq;
    }
  }
  return null;
}

const line = fc.record({
  step: fc.constantFrom(1, 1, 1, 2, 50),
  size: fc.constantFrom(0, 10, 500, 5_000, 40_000),
  garbage: fc.constantFrom('', '', '', 'not json\n', '\n', `${'z'.repeat(20_000)}\n`),
  newMonth: fc.constantFrom(false, false, false, false, true),
});

test('binary search finds the same position as reading everything', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 40 }),
      fc.constantFrom('', '{"seq":'),
      async (lines, torn) => {
        const folder = temporaryFolder();
        const files: string[] = [''];
        const seqs: number[] = [];
        let seq = 0;
        for (const { step, size, garbage, newMonth } of lines) {
          if (newMonth) files.push('');
          seq += step;
          seqs.push(seq);
          files[files.length - 1] += `${garbage}${lineText(seq, 'x'.repeat(size))}\n`;
        }
        for (const [index, text] of files.entries()) {
          const name = `20${20 + index}-11.jsonl`;
          writeFileSync(join(folder, name), index === files.length - 1 ? text + torn : text);
        }
        const wanted = [0, 1, ...seqs, ...seqs.map((known) => known + 1), seq + 100];
        for (const value of wanted) {
          const expected = seqs.find((known) => known >= value) ?? null;
          expect(await firstSeqFrom(folder, findPositionOfSeq(folder, value))).toBe(expected);
          expect(await firstSeqFrom(folder, findPositionOfTime(folder, START + value * 1000))).toBe(expected);
        }
        expect(await firstSeqFrom(folder, findEnd(folder))).toBeNull();
      },
    ),
    { numRuns: 25 },
  );
});

test('a log without files has no positions', () => {
  expect(findPositionOfSeq(join(temporaryFolder(), 'none'), 1)).toBeNull();
});

test('the end is after the last whole line', () => {
  const folder = temporaryFolder();
  const whole = `${lineText(1)}\n${lineText(2)}\n`;
  writeFileSync(join(folder, '2026-11.jsonl'), `${whole}{"seq":3`);
  expect(findEnd(folder)).toEqual({ file: '2026-11.jsonl', offset: whole.length });
});

test('finds the exact byte in a file of many lines', () => {
  const folder = temporaryFolder();
  const texts = Array.from({ length: 20_000 }, (_, index) => lineText(index + 1, 'x'.repeat(index % 600)));
  writeFileSync(join(folder, '2026-11.jsonl'), `${texts.join('\n')}\n`);
  const seqs = texts.map((_, index) => index + 1).filter((seq) => seq % 97 === 0);
  const offsets = texts.map(() => 0);
  for (const [index, text] of texts.entries()) offsets[index + 1] = (offsets[index] ?? 0) + text.length + 1;
  expect(seqs.map((seq) => findPositionOfSeq(folder, seq)?.offset)).toEqual(
    seqs.map((seq) => offsets[seq - 1]),
  );
});
