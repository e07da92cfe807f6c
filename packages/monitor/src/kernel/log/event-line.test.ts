import { expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { type EventLine, parseEventDraft, parseEventLine } from './event-line.ts';

const line: EventLine = {
  seq: 1,
  ts: '2026-01-02T03:04:05.678Z',
  id: 'event-1',
  schemaVersion: 1,
  event: 'orchestrator.worker.status_changed',
  source: 'orchestrator',
  via: 'local',
  host: { id: 'host-1', name: 'laptop' },
  scope: { orchestrator: 'orch-1', ticket: 'ENG-42' },
  detail: { from: 'merged', to: 'deploying' },
};

test('a line of a known topic with its detail parses to itself', () => {
  expect(parseEventLine(topics, line)).toEqual({ ok: true, line });
});

test('unknown fields in the detail are kept', () => {
  const newer = { ...line, detail: { ...line.detail, addedLater: [1] } };
  expect(parseEventLine(topics, newer)).toEqual({ ok: true, line: newer });
});

test.each([
  [
    { ...line, event: 'orchestrator.worker.status_chnged' },
    'did you mean orchestrator.worker.status_changed?',
  ],
  [{ ...line, event: '__proto__' }, 'event: "__proto__" is not a topic'],
  [{ ...line, detail: { to: 'sleeping' } }, 'detail.to: expected one of dispatched, '],
  [{ ...line, detail: {} }, 'detail.to is required'],
  [{ ...line, seq: 0 }, 'seq: expected a whole number of at least 1'],
  [{ ...line, ts: 'yesterday' }, 'ts: expected an ISO time'],
  [{ ...line, scope: { pr: '42' } }, 'scope.pr: expected a whole number'],
  [{ ...line, schemaVersion: 2 }, 'schemaVersion: expected 1'],
  [null, 'expected a JSON object'],
  [[], 'expected a JSON object'],
])('a problem is named, case %#', (value, problem) => {
  expect(parseEventLine(topics, value)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test('a line whose whole detail was cut still parses', () => {
  expect(parseEventLine(topics, { ...line, detail: { cut: ['detail'] } }).ok).toBe(true);
});

test('a draft has no position yet', () => {
  const { seq: _seq, ts: _ts, id: _id, host: _host, schemaVersion: _version, ...draft } = line;
  expect(parseEventDraft(topics, draft)).toEqual({ ok: true, draft });
  expect(parseEventLine(topics, draft).ok).toBe(false);
  expect(parseEventDraft(topics, { ...draft, detail: { to: 1 } }).ok).toBe(false);
});
