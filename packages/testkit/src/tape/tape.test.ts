import { workerStatuses } from '@svc/contract/worker-statuses';
import { boardView } from 'svc-monitor/src/features/board/board-view.ts';
import { emptyBoard, foldLine } from 'svc-monitor/src/features/board.ts';
import { receipt } from 'svc-monitor/src/features/tickets/receipt.ts';
import { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { describe, expect, it } from 'vitest';
import { openDay, readRecords } from '../../../demo/src/day.ts';
import { pastOf } from '../../../demo/src/past.ts';
import { repos } from '../../../demo/src/project.ts';
import { historyLines } from './history.ts';
import { hostileDay, PWNED } from './hostile.ts';
import { type Moment, momentOf } from './tape-daemon.ts';

const now = new Date('2026-11-12T15:30:00.000Z');
const recorded = readRecords('day.jsonl');
const dayAt = (moment: Moment, records = recorded) =>
  openDay({ records, now, nowIs: momentOf[moment], pid: 4242 });
const boardAt = (moment: Moment) => boardView(pastOf(dayAt(moment)).board);

describe('the day of the tape', () => {
  it('is always the same', () => {
    const once = JSON.stringify(pastOf(dayAt('end')).lines);
    expect(JSON.stringify(pastOf(dayAt('end')).lines)).toBe(once);
  });

  it('consists of valid log lines, in order', () => {
    const { lines } = pastOf(dayAt('end'));
    expect(lines.length).toBeGreaterThan(400);
    for (const [index, line] of lines.entries()) {
      expect(EventLine.safeParse(line).error).toBeUndefined();
      expect(line.seq).toBe(index + 1);
      expect(line.ts >= (lines[index - 1]?.ts ?? '')).toBe(true);
    }
    expect(lines.at(-1)?.ts.slice(0, 16)).toBe('2026-11-12T15:26');
  });

  it('has workers in every status, one of them dead, in two repositories and four runs', () => {
    const { workers, runs, tickets } = boardAt('end');
    expect(new Set(workers.map(({ status }) => status))).toEqual(new Set(workerStatuses));
    expect(workers.filter(({ process }) => process.state === 'dead').map(({ ticket }) => ticket)).toEqual([
      'TID-131',
    ]);
    expect(new Set(workers.map(({ repo }) => repo))).toEqual(new Set(repos));
    expect(runs.map(({ state }) => state)).toEqual(['completed', 'running', 'running', 'running']);
    expect(tickets.length).toBeGreaterThan(12);
  });

  it('has succeeded, failed and running deployments, and one that needs a person', () => {
    const { deployments, workers } = boardAt('end');
    const states = new Set(deployments.map(({ state }) => state));
    expect(states).toEqual(new Set(['success', 'failure', 'in_progress']));
    expect(workers.filter(({ attempts, budget }) => attempts === budget).map(({ ticket }) => ticket)).toEqual(
      ['TID-106'],
    );
  });

  it('needs a person for several reasons, some acknowledged or snoozed', () => {
    const { attention } = boardAt('end');
    expect(attention.map(({ reason }) => reason).toSorted()).toEqual([
      'deploy-budget-exhausted',
      'deploy-failed',
      'done-unproven',
      'pr-closed',
      'question',
      'worker-dead',
      'worker-stalled',
    ]);
    expect(attention.filter(({ acknowledged }) => acknowledged).map(({ reason }) => reason)).toEqual([
      'deploy-failed',
    ]);
    expect(attention.filter(({ snoozedUntil }) => snoozedUntil).map(({ reason }) => reason)).toEqual([
      'pr-closed',
    ]);
  });

  it('has running, failed and passed checks, a review that requests changes, and open threads', () => {
    const { pullRequests } = boardAt('end');
    const of = (number: number) => pullRequests.find((one) => one.number === number);
    expect(of(426)?.checks.map(({ conclusion }) => conclusion)).toEqual([null, null]);
    expect(of(427)?.checks.map(({ conclusion }) => conclusion)).toContain('failure');
    expect(of(428)?.unresolvedThreads).toHaveLength(2);
    expect(of(428)?.reviews[0]?.state).toBe('changes_requested');
  });

  it('has receipts of every grade', () => {
    const { board } = pastOf(dayAt('end'));
    const gradesOf = (ticket: string) => receipt(board, ticket)?.links.map(({ grade }) => grade) ?? [];
    expect(new Set(gradesOf('TID-101'))).toEqual(new Set(['observed']));
    expect(gradesOf('TID-102')).toContain('fetched');
    expect(gradesOf('TID-103')).toContain('claimed');
  });

  it('is silent at night', () => {
    const { lines } = pastOf(dayAt('end'));
    const gaps = lines
      .slice(1)
      .map((line, index) => Date.parse(line.ts) - Date.parse(lines[index]?.ts ?? ''));
    expect(gaps.filter((gap) => gap > 10 * 3_600_000)).toHaveLength(2);
  });

  it('can end at midday and in the morning', () => {
    expect(boardAt('start').workers.map(({ orchestrator }) => orchestrator)).not.toContain(
      'run-winter-storage',
    );
    expect(boardAt('midday').workers.length).toBeLessThan(boardAt('end').workers.length);
  });

  it('has an attack in every external text if hostile, and ends in the same state', () => {
    const { board, lines } = pastOf(dayAt('end', hostileDay(recorded)));
    const view = boardView(board);
    expect(view.workers.map(({ status }) => status)).toEqual(
      boardAt('end').workers.map(({ status }) => status),
    );
    const marks = ['<', '{', "'", '[', '$', '_', String.fromCharCode(0x1b), String.fromCharCode(0x202e)];
    const attacked = (texts: (string | null | undefined)[]) =>
      texts.every((text) => marks.some((mark) => text?.includes(mark)));
    expect(attacked(view.tickets.map(({ title }) => title))).toBe(true);
    expect(attacked(view.pullRequests.map(({ title }) => title))).toBe(true);
    expect(attacked(view.pullRequests.map(({ branch }) => branch))).toBe(true);
    expect(attacked(view.pullRequests.map(({ author }) => author))).toBe(true);
    expect(lines.filter((line) => JSON.stringify(line).includes(PWNED)).length).toBeGreaterThan(200);
    // The log cuts longer texts.
    expect(lines.some(({ detail }) => String(detail['title']).length >= 2_000)).toBe(true);
  });
});

describe('the history', () => {
  it('has the given number of workers, most of them done, in order', () => {
    const board = emptyBoard();
    let seq = 0;
    for (const line of historyLines({ cards: 300, until: now, days: 20 })) {
      expect(line.seq).toBe((seq += 1));
      expect(line.ts >= (board.at ?? '')).toBe(true);
      expect(line.ts < now.toISOString()).toBe(true);
      foldLine(board, line);
    }
    const statuses = [...board.workers.values()].map(({ status }) => status);
    expect(statuses).toHaveLength(300);
    expect(statuses.filter((status) => status === 'done').length).toBeGreaterThan(280);
    expect(statuses.filter((status) => status === 'pr-created').length).toBeGreaterThan(0);
  });
});
