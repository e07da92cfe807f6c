import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { cutToFit } from './cut-to-fit.ts';
import { type EventLine, MAX_EVENT_LINE_BYTES, parseEventLine } from './event-line.ts';

const line: EventLine = {
  seq: 1,
  ts: '2026-01-02T03:04:05.678Z',
  id: 'event-1',
  schemaVersion: 1,
  event: 'codehost.issue_comment.created',
  source: 'codehost.webhook',
  via: 'live',
  deliveryId: 'delivery-1',
  host: { id: 'host-1', name: 'laptop' },
  scope: { repo: 'acme/web', pr: 42 },
  actor: { login: 'kim' },
  detail: { body: 'Hello', url: 'https://example.test' },
};
const about = (detail: EventLine['detail'], more: Partial<EventLine> = {}): EventLine => ({
  ...line,
  ...more,
  detail,
});
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

test('a line that fits is returned as it is, not copied', () => {
  expect(cutToFit(line)).toBe(line);
  const nearlyFull = about({ body: 'x'.repeat(65_000) });
  expect(bytesOf(nearlyFull)).toBeLessThanOrEqual(MAX_EVENT_LINE_BYTES);
  expect(cutToFit(nearlyFull)).toBe(nearlyFull);
});

test('the longest text is cut and listed, the others stay', () => {
  const other = 'y'.repeat(10_000);
  const cut = cutToFit(about({ body: 'x'.repeat(200_000), other }));
  expect(cut.detail).toEqual({
    body: expect.stringMatching(/^x+…\[cut \d+ characters\]$/),
    other,
    cut: ['detail.body'],
  });
  expect(bytesOf(cut)).toBeGreaterThan(MAX_EVENT_LINE_BYTES - 200);
});

test('fields that were cut before stay listed', () => {
  const cut = cutToFit(about({ body: 'x'.repeat(200_000), title: 'short', cut: ['detail.title'] }));
  expect(cut.detail['cut']).toEqual(['detail.title', 'detail.body']);
});

test('texts inside lists and objects are cut too', () => {
  const cut = cutToFit(about({ list: [{ text: 'x'.repeat(100_000) }] }));
  expect(cut.detail['cut']).toEqual(['detail.list.0.text']);
  expect(bytesOf(cut)).toBeLessThanOrEqual(MAX_EVENT_LINE_BYTES);
});

test('an over-long scope, delivery or actor is cut, the detail stays', () => {
  const long = 'z'.repeat(70_000);
  const cut = cutToFit({ ...line, deliveryId: long, scope: { branch: long }, actor: { login: long } });
  expect(cut.detail).toEqual({ ...line.detail, cut: ['deliveryId', 'scope.branch', 'actor.login'] });
  expect(bytesOf(cut)).toBeLessThanOrEqual(MAX_EVENT_LINE_BYTES);
});

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

const control = '\u0001'.repeat(70_000);

describe('a detail that cannot be made to fit is dropped as a whole', () => {
  test.each<[string, EventLine]>([
    ['huge list', about({ list: Array.from({ length: 100_000 }, () => 0) })],
    ['many short texts', about({ list: Array.from({ length: 2000 }, () => 'x'.repeat(200)) })],
    ['huge key', about({ ['k'.repeat(70_000)]: 1 })],
    ['huge key with a long text', about({ ['k'.repeat(70_000)]: 'x'.repeat(70_000) })],
    ['very deep', about({ deep: nested(100_000) })],
    [
      'many keys',
      about(Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`key${index}`, index]))),
    ],
    ['long names of earlier cuts', about({ cut: ['x'.repeat(70_000)] })],
  ])('%s', (_name, hostile) => {
    const cut = cutToFit(hostile);
    expect(cut).toEqual({ ...hostile, detail: { cut: ['detail'] } });
    expect(parseEventLine(topics, cut).ok).toBe(true);
  });

  test('with the largest hostile texts everywhere else', () => {
    const scope = {
      repo: control,
      ticket: control,
      orchestrator: control,
      worker: control,
      branch: control,
      sha: control,
    };
    const more = { mergeSha: control, ref: control, environment: control };
    const hostile = about(
      { deep: nested(100_000) },
      {
        scope: { ...scope, ...more },
        deliveryId: control,
        actor: { login: control, type: control },
        relay: { channel: control, id: control },
        host: { id: control, name: control },
        id: control,
        occurredAt: `2026-01-02T03:04:05.${'1'.repeat(70_000)}Z`,
      },
    );
    expect(parseEventLine(topics, hostile).ok).toBe(true);
    for (const maxBytes of [4096, 8192, MAX_EVENT_LINE_BYTES]) {
      const cut = cutToFit(hostile, maxBytes);
      expect(bytesOf(cut)).toBeLessThanOrEqual(maxBytes);
      expect(parseEventLine(topics, cut)).toEqual({ ok: true, line: cut });
      expect(cut.detail['cut']).toContain('detail');
    }
  });
});

test('any line fits afterwards, still parses, and is changed only if necessary', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 50 }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 2000 }))
      .map(([part, times]) => part.repeat(times)),
  );
  const detail = fc.object({
    key: fc.string({ maxLength: 30 }),
    values: [text, fc.integer(), fc.boolean(), fc.constant(null)],
  });
  const scope = fc.record({ repo: text, branch: text, ticket: text }, { requiredKeys: [] });
  fc.assert(
    fc.property(
      detail,
      scope,
      text,
      fc.integer({ min: 4096, max: 20_000 }),
      (extra, itsScope, deliveryId, maxBytes) => {
        const before = { ...line, scope: itsScope, deliveryId, detail: { extra } };
        const after = cutToFit(before, maxBytes);
        expect(bytesOf(after)).toBeLessThanOrEqual(maxBytes);
        expect(parseEventLine(topics, after).ok).toBe(true);
        expect(after === before).toBe(bytesOf(before) <= maxBytes);
        expect(cutToFit(after, maxBytes)).toBe(after);
      },
    ),
    { numRuns: 200 },
  );
});
