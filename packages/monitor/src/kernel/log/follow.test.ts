import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryFolder, until } from '@svc/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type FollowFrom, followLog } from './follow.ts';
import type { CorruptLine } from './read-lines.ts';
import { lineText } from './testing/sample-log.ts';

const NAME = '2026-11.jsonl';

const POLL_MS = 50;

function follow(folder: string, from: FollowFrom, pollMs = POLL_MS) {
  const stop = new AbortController();
  const seqs: number[] = [];
  const ids: string[] = [];
  const corrupt: CorruptLine[] = [];
  const reading = (async () => {
    const onCorrupt = (line: CorruptLine): void => void corrupt.push(line);
    for await (const entries of followLog({ folder, from, signal: stop.signal, pollMs, onCorrupt })) {
      seqs.push(...entries.map(({ line }) => line.seq));
      ids.push(...entries.map(({ line }) => line.id));
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await reading;
  });
  return { seqs, ids, corrupt };
}

/** Polls come only from `looksAgain`, which resolves when the follower has checked and waits for the next. */
function holdPolls(): { looksAgain: () => Promise<void> } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const waits = () => until(() => vi.getTimerCount() === 1);
  return {
    async looksAgain() {
      await waits();
      await vi.advanceTimersByTimeAsync(POLL_MS);
      await waits();
    },
  };
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${lineText(from + index)}\n`).join('');
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('following', () => {
  test('starts after a line, at a time or at the end', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, NAME), lines(1, 10));
    const after = follow(folder, { seq: 7 });
    const since = follow(folder, { time: Date.parse(JSON.parse(lineText(5)).ts) });
    const fresh = follow(folder, 'end');
    await expect.poll(() => [after.seqs.length, since.seqs.length]).toEqual([3, 6]);
    appendFileSync(join(folder, NAME), lines(11, 12));
    await expect
      .poll(() => [after.seqs, since.seqs, fresh.seqs])
      .toEqual([numbers(8, 12), numbers(5, 12), [11, 12]]);
  });

  test('waits for a folder that does not exist yet', async () => {
    const folder = join(temporaryFolder(), 'events');
    const { looksAgain } = holdPolls();
    const { seqs } = follow(folder, 'end');
    await looksAgain();
    await looksAgain();
    mkdirSync(folder);
    appendFileSync(join(folder, NAME), lines(1, 3));
    await looksAgain();
    expect(seqs).toEqual([1, 2, 3]);
  });

  test('returns only whole lines', async () => {
    const folder = temporaryFolder();
    const { looksAgain } = holdPolls();
    const { seqs, corrupt } = follow(folder, 'end');
    const text = lines(1, 1);
    for (const part of [text.slice(0, 20), text.slice(20, 90), text.slice(90, -1)]) {
      appendFileSync(join(folder, NAME), part);
      await looksAgain();
      expect(seqs).toEqual([]);
    }
    appendFileSync(join(folder, NAME), '\n');
    await looksAgain();
    expect([seqs, corrupt]).toEqual([[1], []]);
  });

  test('continues with the next month, and finishes a month first', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '2026-12.jsonl'), '');
    const { seqs } = follow(folder, 'end');
    for (let seq = 1; seq <= 50; seq += 1) appendFileSync(join(folder, NAME), lines(seq, seq));
    await expect.poll(() => seqs.length).toBeGreaterThan(0);
    for (let seq = 51; seq <= 100; seq += 1) appendFileSync(join(folder, NAME), lines(seq, seq));
    appendFileSync(join(folder, '2026-12.jsonl'), lines(101, 120));
    appendFileSync(join(folder, '2027-01.jsonl'), lines(121, 130));
    await expect.poll(() => seqs).toEqual(numbers(1, 130));
  });

  test('after a failed write it returns the lines that replaced the removed ones', async () => {
    const folder = temporaryFolder();
    const path = join(folder, NAME);
    writeFileSync(path, lines(1, 5));
    const { looksAgain } = holdPolls();
    const { ids } = follow(folder, { seq: 0 });
    appendFileSync(path, `${lineText(6)}\n${lineText(7)}\n`);
    await looksAgain();
    expect(ids).toHaveLength(7);
    truncateSync(path, lines(1, 5).length);
    appendFileSync(
      path,
      [6, 7, 8, 9].map((seq) => `${lineText(seq, 'second', { id: `new-${seq}` })}\n`).join(''),
    );
    await looksAgain();
    expect(ids.slice(7)).toEqual(['new-6', 'new-7', 'new-8', 'new-9']);
  });

  test('stops immediately at the signal', async () => {
    const stop = new AbortController();
    const following = followLog({
      folder: temporaryFolder(),
      from: 'end',
      signal: stop.signal,
      // The longest time that a timer can wait.
      pollMs: 2 ** 31 - 1,
    });
    const next = following.next();
    stop.abort();
    expect((await next).done).toBe(true);
  });
});

test('misses nothing that another process writes in bursts', async () => {
  const root = temporaryFolder();
  const { seqs } = follow(join(root, 'events'), { seq: 0 }, 1_000);
  const script = join(import.meta.dirname, 'testing', 'append-until-killed.ts');
  const writer = spawn(process.execPath, [script, root, 'd', '100', '5000'], { stdio: 'ignore' });
  await new Promise((resolve) => writer.on('exit', resolve));
  expect(writer.exitCode).toBe(0);
  await expect.poll(() => seqs.length).toBe(5_000);
  expect(seqs).toEqual(numbers(1, 5_000));
});

test.each([0, 1, 2, 3, 5, 8])(
  'lines that are removed %i turns of the event loop after they were read are replaced by the new ones',
  async (turns) => {
    const folder = temporaryFolder();
    const path = join(folder, NAME);
    writeFileSync(path, lines(1, 5));
    const { ids } = follow(folder, { seq: 0 });
    appendFileSync(path, lines(6, 7));
    await expect.poll(() => ids.length, { interval: 1 }).toBe(7);
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    truncateSync(path, lines(1, 5).length);
    appendFileSync(
      path,
      [6, 7, 8].map((seq) => `${lineText(seq, 'second', { id: `new-${seq}` })}\n`).join(''),
    );
    await expect.poll(() => ids.slice(7)).toEqual(['new-6', 'new-7', 'new-8']);
  },
);
