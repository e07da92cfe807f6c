// Everything together with the real rules, log and outbox, and realistic lines: stopped and started again at any
// line, and viewed at past times from the end.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { historyLines } from '../../../../testkit/src/tape/history.ts';
import { boardRules, emptyBoard, foldLine, packBoard } from '../../features/board.ts';
import type { EventLine } from '../log/event-line.ts';
import { openTestLog } from '../log/testing/sample-log.ts';
import { createBoardAt } from './board-at.ts';
import { follow, openStateFiles } from './testing/state-files.ts';

const WIDEST = 1_000;
const lines: EventLine[] = [
  ...historyLines({ cards: 60, rounds: 5, until: new Date('2026-06-30T00:00:00Z'), open: 0.1 }),
];
const LINES = lines.length;

test('started repeatedly, and viewed at past times, it equals folding from the first line', async () => {
  const folder = temporaryFolder();
  const month = join(folder, 'events', '2026-06.jsonl');
  mkdirSync(join(folder, 'events'));
  writeFileSync(month, '');
  const random = createRandom(8);
  const cuts = Array.from({ length: 5 }, () => random.below(LINES)).toSorted((left, right) => left - right);
  let written = 0;
  for (const [run, end] of [0, ...cuts, LINES].entries()) {
    appendFileSync(
      month,
      lines
        .slice(written, end)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    written = end;
    const log = openTestLog(folder);
    const files = openStateFiles({ file: join(folder, 'svc.db'), lastSeq: log.lastSeq(), widest: WIDEST });
    const state = follow(files, { log, rules: boardRules, snapshotEvery: run === 3 ? 5_000 : 400 });
    await state.ready;
    expect(state.progress()).toMatchObject({ seq: end, brokenLines: 0, degraded: null });
    await state.stop();
    files.close();
    await log.close();
  }

  const log = openTestLog(folder);
  const files = openStateFiles({ file: join(folder, 'svc.db'), lastSeq: log.lastSeq(), widest: WIDEST });
  const state = follow(files, { log, rules: boardRules });
  await state.ready;
  const wanted = new Set([1, LINES, ...Array.from({ length: 12 }, () => 1 + random.below(LINES))]);
  const board = emptyBoard();
  const keys: string[] = [];
  const past = new Map<number, string>();
  for (const line of lines) {
    keys.push(...foldLine(board, line).map(({ key }) => key));
    if (wanted.has(line.seq)) past.set(line.seq, JSON.stringify(packBoard(board)));
  }
  expect(keys.length).toBeGreaterThan(20);
  expect(packBoard(state.board())).toEqual(packBoard(board));
  expect(files.outbox.counts().pending).toBe(keys.length);
  expect(keys.filter((key) => files.outbox.find(key) === null)).toEqual([]);

  const boardAt = createBoardAt({ log, snapshots: files.snapshots, rules: boardRules, live: state.board });
  expect(files.snapshots.figures().count).toBeGreaterThanOrEqual(4);
  for (const [seq, content] of past) {
    expect(JSON.stringify(packBoard(await boardAt({ seq })))).toBe(content);
    const ts = Date.parse(lines[seq - 1]?.ts ?? '');
    expect((await boardAt({ time: ts })).seq).toBe(seq);
  }
  await state.stop();
  files.close();
  await log.close();
});
