import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { createLiveTail, type LiveTail } from './live-tail.ts';
import { type LogEntry, parseEntry, TailTooSlow } from './log-entry.ts';

import { lineText } from './testing/sample-log.ts';

/** A tail over a real file; `write` makes lines durable, `leak` only writes them to the file. */
function openTail(limits: { maxLines?: number; maxBytes?: number } = {}) {
  const folder = join(temporaryFolder(), 'events');
  mkdirSync(folder);
  const tail = createLiveTail({ folder, lastSeq: 0, ...limits });
  let offset = 0;
  const leak = (seq: number): LogEntry => {
    const text = lineText(seq);
    const entry = parseEntry({ file: '2026-11.jsonl', offset, length: text.length, text });
    if (entry === null) throw new Error('not a line');
    appendFileSync(join(folder, entry.file), `${text}\n`);
    offset += text.length + 1;
    return entry;
  };
  const write = (from: number, to: number): void => {
    tail.push(Array.from({ length: to - from + 1 }, (_, index) => leak(from + index)));
  };
  return { tail, write, leak };
}

/** Reads until this many lines have arrived, with a pause after each batch. */
async function take(tail: LiveTail, count: number, after?: number, pause = nextTurn): Promise<number[]> {
  const seqs: number[] = [];
  for await (const entries of tail.subscribe({ after })) {
    seqs.push(...entries.map(({ line }) => line.seq));
    if (seqs.length >= count) break;
    await pause();
  }
  return seqs;
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('a reader', () => {
  test('without a position gets only new lines', async () => {
    const { tail, write } = openTail();
    write(1, 5);
    const reading = take(tail, 3);
    await nextTurn();
    write(6, 8);
    expect(await reading).toEqual([6, 7, 8]);
  });

  test('gets the past from the file, then the ring, then new lines, each line once', async () => {
    const { tail, write } = openTail({ maxLines: 50 });
    write(1, 1000);
    const reading = take(tail, 1400, 300);
    for (let seq = 1001; seq <= 1700; seq += 7) {
      write(seq, seq + 6);
      await nextTurn();
    }
    expect((await reading).slice(0, 1400)).toEqual(numbers(301, 1700));
  });

  test('that has a later position than the log gets new lines', async () => {
    const { tail, write } = openTail();
    write(1, 3);
    const reading = take(tail, 1, 99);
    await nextTurn();
    write(4, 4);
    expect(await reading).toEqual([4]);
  });

  test('never gets a line that is not durable yet', async () => {
    const { tail, write, leak } = openTail({ maxLines: 4 });
    write(1, 100);
    const entry = leak(101);
    const seqs: number[] = [];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const entries of tail.subscribe({ after: 0, signal: stop.signal })) {
        seqs.push(...entries.map(({ line }) => line.seq));
      }
    })();
    await expect.poll(() => seqs.length).toBe(100);
    tail.push([entry]);
    write(102, 102);
    await expect.poll(() => seqs.at(-1)).toBe(102);
    expect(seqs).toEqual(numbers(1, 102));
    stop.abort();
    await reading;
    expect(tail.readers()).toBe(0);
  });

  test('that is too slow is cut off with its position, and can resume there', async () => {
    const { tail, write } = openTail({ maxLines: 100 });
    const reader = tail.subscribe();
    const first = reader.next();
    await nextTurn();
    write(1, 10);
    expect((await first).value).toHaveLength(10);
    write(11, 60);
    write(61, 140);
    const failure = await reader.next().then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(TailTooSlow);
    expect(failure).toMatchObject({ lastSeq: 10 });
    expect((await take(tail, 130, 10)).slice(0, 130)).toEqual(numbers(11, 140));
  });

  test('that asked for the file instead is never cut off', async () => {
    const { tail, write } = openTail({ maxLines: 20 });
    const seqs: number[] = [];
    const reader = tail.subscribe({ whenSlow: 'read-file' });
    const first = reader.next();
    await nextTurn();
    write(1, 3);
    seqs.push(...((await first).value ?? []).map(({ line }: LogEntry) => line.seq));
    write(4, 500);
    while (seqs.length < 500) {
      const { value } = await reader.next();
      seqs.push(...(value ?? []).map(({ line }: LogEntry) => line.seq));
    }
    await reader.return(undefined);
    expect(seqs).toEqual(numbers(1, 500));
  });

  test('skips lines that no longer exist', async () => {
    const { tail, write } = openTail({ maxLines: 10 });
    write(1, 50);
    write(60, 90);
    expect(await take(tail, 81, 0)).toEqual([...numbers(1, 50), ...numbers(60, 90)]);
  });
});

test('the ring is bounded in bytes as well', async () => {
  const { tail, write } = openTail({ maxBytes: 2_000 });
  write(1, 500);
  expect(await take(tail, 500, 0)).toEqual(numbers(1, 500));
});

test('hundreds of readers get everything', async () => {
  const { tail, write } = openTail();
  const readers = Array.from({ length: 300 }, () => take(tail, 200));
  await nextTurn();
  expect(tail.readers()).toBe(300);
  for (let seq = 1; seq <= 200; seq += 10) {
    write(seq, seq + 9);
    await nextTurn();
  }
  for (const seqs of await Promise.all(readers)) expect(seqs).toEqual(numbers(1, 200));
  expect(tail.readers()).toBe(0);
});
