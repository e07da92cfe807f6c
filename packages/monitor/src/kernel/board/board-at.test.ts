import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, temporaryFolder } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EventLine } from '../log/event-line.ts';
import { openTestLog, START } from '../log/testing/sample-log.ts';
import { createBoardAt } from './board-at.ts';
import { type FoldLine } from './board-rules.ts';
import { createSmallLog, smallLines } from './testing/small-log.ts';
import { smallRules } from './testing/small-rules.ts';
import { foldAll, follow, openStateFiles } from './testing/state-files.ts';

function someLines(count: number): EventLine[] {
  return smallLines(
    Array.from({ length: count }, (_, index) => ({ ticket: `A-${(index * 7) % 31}`, ask: index % 2 })),
  );
}

/** A log in files, two lines per second, and a follower that has taken its snapshots. */
async function prepare(lines: readonly EventLine[], snapshotEvery: number) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'events'));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(folder, 'events/2026-11.jsonl'), text);
  const log = openTestLog(folder, { clock: { now: () => START + lines.length * 500 } });
  const files = openStateFiles({ file: join(folder, 'svc.db'), widest: 2 * snapshotEvery });
  const state = follow(files, { log, snapshotEvery });
  await state.ready;
  await state.stop();
  onTestFinished(async () => {
    files.close();
    await log.close();
  });
  return { log, files };
}

test('the board of any past time equals folding from the first line', async () => {
  const lines = someLines(5_000);
  const { log, files } = await prepare(lines, 600);
  expect(files.snapshots.figures().count).toBeGreaterThan(4);
  const boardAt = createBoardAt({ log, snapshots: files.snapshots, rules: smallRules });
  const random = createRandom(11);
  const seqs = [0, 1, 599, 600, 601, 5_000, ...Array.from({ length: 30 }, () => random.below(5_000))];
  for (const seq of seqs) {
    expect(await boardAt({ seq })).toEqual(foldAll(lines.slice(0, seq)).board);
    // The next line is half a second later.
    const time = START + (seq - 1) * 500 + random.below(500);
    expect(await boardAt({ time })).toEqual(foldAll(lines.slice(0, seq)).board);
  }
  expect((await boardAt({ seq: 9_000 })).seq).toBe(5_000);
  expect((await boardAt({ time: START - 1 })).seq).toBe(0);
  expect((await boardAt({ time: START * 2 })).seq).toBe(5_000);
});

test('several lines of one millisecond all count', async () => {
  const lines = someLines(100).map((line, index) => ({
    ...line,
    ts: new Date(START + Math.floor(index / 10) * 1_000).toISOString(),
  }));
  const { log, files } = await prepare(lines, 15);
  const boardAt = createBoardAt({ log, snapshots: files.snapshots, rules: smallRules });
  expect((await boardAt({ time: START + 3_000 })).seq).toBe(40);
  expect((await boardAt({ time: START + 3_999 })).seq).toBe(40);
  expect((await boardAt({ time: START + 4_000 })).seq).toBe(50);
});

test('a cached result is used, and not changed by later ones', async () => {
  const lines = someLines(1_000);
  const log = createSmallLog(lines);
  const snapshots = { newest: () => null, load: () => Promise.resolve(null), remove: () => undefined };
  const foldLine = vi.fn<FoldLine>(smallRules.foldLine);
  const boardAt = createBoardAt({ log, snapshots, rules: { ...smallRules, foldLine }, kept: 2 });
  const early = await boardAt({ seq: 900 });
  foldLine.mockClear();
  expect(await boardAt({ seq: 905 })).toEqual(foldAll(lines.slice(0, 905)).board);
  expect(foldLine).toHaveBeenCalledTimes(5);
  expect(early).toEqual(foldAll(lines.slice(0, 900)).board);
  expect(await boardAt({ seq: 900 })).toBe(early);
  expect(await boardAt({ seq: 700 })).toEqual(foldAll(lines.slice(0, 700)).board);
});

test('a foreign snapshot is not combined with this log', async () => {
  const lines = someLines(5_000);
  const { log, files } = await prepare(lines, 600);
  const { seq, at } = files.snapshots.newest({ seq: 3_000 }) ?? { seq: 0, at: '' };
  await files.snapshots.save({ seq, at, lineId: 'another' }, { seq, at, tickets: [] });
  const boardAt = createBoardAt({ log, snapshots: files.snapshots, rules: smallRules });
  expect(await boardAt({ seq: 3_000 })).toEqual(foldAll(lines.slice(0, 3_000)).board);
});

test('two are computed at once, others wait, too many are refused', async () => {
  const lines = someLines(100);
  const log = createSmallLog(lines);
  let inside = 0;
  let most = 0;
  const open = Promise.withResolvers<void>();
  const snapshots = {
    newest: () => ({ seq: 50, at: '', lineId: 'id-50' }),
    async load() {
      inside += 1;
      most = Math.max(most, inside);
      await open.promise;
      inside -= 1;
      return smallRules.packBoard(foldAll(lines.slice(0, 50)).board);
    },
    remove: () => undefined,
  };
  const boardAt = createBoardAt({ log, snapshots, rules: smallRules, mostWaiting: 3, kept: 0 });
  const asked = Array.from({ length: 5 }, (_, index) => boardAt({ seq: 60 + index }));
  await expect(boardAt({ seq: 99 })).rejects.toMatchObject({ code: 'busy' });
  await expect.poll(() => inside).toBe(2);
  open.resolve();
  expect((await Promise.all(asked)).map(({ seq }) => seq)).toEqual([60, 61, 62, 63, 64]);
  expect(most).toBe(2);
});

test('ends with the request, while waiting and while folding', async () => {
  const log = createSmallLog(someLines(20_000));
  const snapshots = { newest: () => null, load: () => Promise.resolve(null), remove: () => undefined };
  const first = new AbortController();
  const second = new AbortController();
  const foldLine = vi.fn<FoldLine>((board, line) => {
    if (line.seq === 1_000) {
      second.abort(new Error('gone too'));
      first.abort(new Error('gone'));
    }
    return smallRules.foldLine(board, line);
  });
  const boardAt = createBoardAt({ log, snapshots, rules: { ...smallRules, foldLine }, mostAtOnce: 1 });
  const folding = boardAt({ seq: 20_000 }, first.signal);
  const waiting = boardAt({ seq: 20_000 }, second.signal);
  await expect(waiting).rejects.toThrow('gone too');
  await expect(folding).rejects.toThrow('gone');
  expect(foldLine.mock.calls.length).toBeLessThan(20_000);
  expect((await boardAt({ seq: 10 })).seq).toBe(10);
});
