import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { expect, test } from 'vitest';
import type { RunTicket } from './run-model.ts';
import { timelineOf } from './run-timeline.tsx';

const start = Date.parse('2026-11-09T08:00:00.000Z');
const minute = (at: number): number => start + at * 60_000;
const iso = (at: number): string => new Date(minute(at)).toISOString();
const line = (seq: number, at: number, event: string, detail: object, ticket?: string) =>
  ({
    seq,
    ts: iso(at),
    event,
    detail,
    scope: { orchestrator: 'run-1', ...(ticket && { ticket }) },
  }) as EventLine;
const changed = (seq: number, at: number, to: string) =>
  line(seq, at, 'orchestrator.worker.status_changed', { to }, 'A-1');
const ticket = (status: string | null, since: number): RunTicket =>
  ({
    ticket: 'A-1',
    status,
    since: status === null ? null : iso(since),
    worker: { statusSeq: 99 },
  }) as RunTicket;

test('each status lasts until the next', () => {
  const lines = [
    line(1, 0, 'orchestrator.worker.dispatched', {}, 'A-1'),
    changed(2, 1, 'researching'),
    changed(3, 1, 'researching'),
    changed(4, 9, 'planning'),
  ];
  expect(timelineOf(lines, [ticket('planning', 9)]).rows[0]?.bars).toEqual([
    { status: 'dispatched', from: minute(0), to: minute(1), seq: 1 },
    { status: 'researching', from: minute(1), to: minute(9), seq: 2 },
    { status: 'planning', from: minute(9), to: null, seq: 4 },
  ]);
});

test('a final status has no duration', () => {
  const { rows } = timelineOf([changed(1, 0, 'merged'), changed(2, 5, 'done')], [ticket('done', 5)]);
  expect(rows[0]?.bars.at(-1)).toMatchObject({ status: 'done', from: minute(5), to: minute(5) });
});

test('the status on the board replaces the reported one', () => {
  const { rows } = timelineOf([changed(1, 0, 'shipping'), changed(2, 8, 'done')], [ticket('shipping', 0)]);
  expect(rows[0]?.bars).toEqual([{ status: 'shipping', from: minute(0), to: null, seq: 99 }]);
});

test('a worker without events has its status from the board', () => {
  expect(timelineOf([], [ticket('implementing', 3)]).rows[0]?.bars).toEqual([
    { status: 'implementing', from: minute(3), to: null, seq: 99 },
  ]);
  expect(timelineOf([], [ticket(null, 0)]).rows).toEqual([]);
});

test('a wave lasts from its start to its end, including blocked time', () => {
  const wave = (seq: number, at: number, state: string, number: number) =>
    line(seq, at, `orchestrator.wave.${state}`, { wave: number });
  const { waves } = timelineOf(
    [
      wave(1, 0, 'started', 1),
      wave(2, 5, 'completed', 1),
      wave(3, 6, 'started', 2),
      wave(4, 9, 'blocked', 2),
      wave(5, 10, 'blocked', 2),
    ],
    [],
  );
  expect(waves).toEqual([
    { wave: 1, state: 'completed', from: minute(0), to: minute(5), seq: 1 },
    { wave: 2, state: 'started', from: minute(6), to: minute(9), seq: 3 },
    { wave: 2, state: 'blocked', from: minute(9), to: null, seq: 4 },
  ]);
});
