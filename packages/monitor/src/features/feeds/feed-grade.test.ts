import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEventDraft } from '../../kernel/log/event-line.ts';
import { topics } from '../topics.ts';
import {
  BLIND_AFTER_MS,
  disabledTunnel,
  type FeedConditions,
  feedEdge,
  gradeFeed,
  idleTunnel,
  isOtherGrade,
  LATE_AFTER_MS,
  stepTunnel,
  type TunnelEvent,
  type TunnelState,
} from './feed-grade.ts';

const well: FeedConditions = { waiting: null, unauthorised: 'no' };
const lost = (at: number): TunnelEvent & { type: 'lost' } => ({
  type: 'lost',
  at,
  attempt: 0,
  until: at + 250,
  why: 'it answered 502',
});
const heard = (at: number): TunnelEvent => ({ type: 'heard', at });
const dial = (at: number): TunnelEvent => ({ type: 'dial', at, attempt: 1 });
const start: TunnelEvent = { type: 'start', at: 0 };

function after(...events: TunnelEvent[]): TunnelState {
  return events.reduce(stepTunnel, idleTunnel());
}

const seconds = 1000;
test.each<[string, TunnelState, number, string]>([
  ['not started', idleTunnel(), 0, 'disabled'],
  ['no channel', disabledTunnel('no channel', 'Run: setup'), 0, 'disabled'],
  ['just started', after(start), 1 * seconds, 'connecting'],
  ['started, nothing received', after(start), 90 * seconds, 'blind'],
  ['started, refused for a minute', after(start, lost(1), dial(2), lost(3)), 60 * seconds, 'connecting'],
  ['started, and the read key is refused', after(start, { ...lost(1), refusal: 'read-key' }), 2, 'blind'],
  [
    'the read key is refused, while it is tried again',
    after(start, heard(1), { ...lost(2), refusal: 'read-key' }, dial(300)),
    301,
    'blind',
  ],
  [
    'the read key was refused, and is good again',
    after(start, { ...lost(2), refusal: 'read-key' }, dial(300), heard(301)),
    302,
    'live',
  ],
  [
    'started, and the channel is not known',
    after(start, { ...lost(1), refusal: 'channel' }),
    2,
    'connecting',
  ],
  ['heard', after(start, heard(1)), 2, 'live'],
  ['received, idle between heartbeats', after(start, heard(0)), 74 * seconds, 'live'],
  ['silent', after(start, heard(0)), 75 * seconds, 'late'],
  ['given up as silent', after(start, heard(0), { type: 'silent', at: 75 * seconds }), 80 * seconds, 'late'],
  [
    'silent for three heartbeats',
    after(start, heard(0), { type: 'silent', at: 75 * seconds }),
    90 * seconds,
    'blind',
  ],
  ['a cut of a second', after(start, heard(0), lost(10 * seconds)), 11 * seconds, 'live'],
  ['a cut of a heartbeat', after(start, heard(0), lost(10 * seconds)), 40 * seconds, 'late'],
  [
    'a cut of a heartbeat, whatever was tried since',
    after(start, heard(0), lost(10 * seconds), dial(20 * seconds), lost(39 * seconds)),
    40 * seconds,
    'late',
  ],
  ['a long cut', after(start, heard(0), lost(10 * seconds)), 90 * seconds, 'blind'],
  [
    'back after a long cut',
    after(start, heard(0), lost(1), dial(2), heard(200 * seconds)),
    201 * seconds,
    'live',
  ],
  [
    'asleep overnight',
    after(start, heard(0), { type: 'woke', at: 30_000 * seconds }),
    30_001 * seconds,
    'connecting',
  ],
  [
    'awake, but not back',
    after(start, heard(0), { type: 'woke', at: 30_000 * seconds }),
    30_090 * seconds,
    'blind',
  ],
  [
    'broke three times in five minutes',
    after(
      start,
      heard(0),
      lost(1),
      dial(2),
      heard(3),
      lost(4),
      dial(5),
      heard(6),
      lost(7),
      dial(8),
      heard(9),
    ),
    300 * seconds - 240 * seconds,
    'degraded',
  ],
  [
    'broke three times, long ago',
    after(
      start,
      heard(0),
      lost(1),
      dial(2),
      heard(3),
      lost(4),
      dial(5),
      heard(6),
      lost(7),
      dial(8),
      heard(301 * seconds),
    ),
    302 * seconds,
    'live',
  ],
])('%s', (_name, state, now, expected) => {
  expect(gradeFeed(state, well, now).grade).toBe(expected);
});

test('failing to connect shows the reason and the remedy; a first attempt has no remedy', () => {
  expect(gradeFeed(after(start), well, 1)).toMatchObject({ grade: 'connecting', why: null, remedy: null });
  expect(gradeFeed(after(start, lost(1)), well, 2)).toMatchObject({
    grade: 'connecting',
    why: 'it answered 502',
    remedy: expect.stringContaining('retried automatically'),
  });
});

test('blind shows since when, the reason and the remedy', () => {
  const state = after(start, heard(5 * seconds), lost(6 * seconds));
  expect(gradeFeed(state, well, 100 * seconds)).toMatchObject({
    grade: 'blind',
    since: 5 * seconds,
    why: 'it answered 502',
    remedy: expect.stringContaining('retried automatically'),
  });
});

test.each<[Partial<FeedConditions>, string]>([
  [{ waiting: 'the disk is full' }, 'deliveries-waiting'],
  [{ unauthorised: 'signed-otherwise' }, 'auth-failing'],
  [{ unauthorised: 'rewritten-or-signed-otherwise' }, 'auth-failing'],
])('%j is degraded, with a remedy', (conditions, code) => {
  const given = gradeFeed(after(start, heard(0)), { ...well, ...conditions }, 1);
  expect(given).toMatchObject({ grade: 'degraded', code, remedy: expect.any(String) });
});

test('a change of grade is a line in the log', () => {
  const live = gradeFeed(after(start, heard(0)), well, 1);
  const blind = gradeFeed(after(start, heard(0)), well, 100 * seconds);
  const draft = feedEdge('codehost', live, blind, { channel: 'c', id: 'e.1' });
  expect(parseEventDraft(topics, draft)).toMatchObject({ ok: true });
  expect(draft).toMatchObject({
    event: 'monitor.feed.blind',
    relay: { channel: 'c', id: 'e.1' },
    detail: { feed: 'codehost', from: 'live', since: '1970-01-01T00:00:00.000Z' },
  });
  expect(isOtherGrade(live, blind)).toBe(true);
  expect(isOtherGrade(live, { ...live, since: 7 })).toBe(false);
  for (const from of [null, live])
    expect(parseEventDraft(topics, feedEdge('tracker', from, live))).toMatchObject({ ok: true });
});

test('a feed with every heartbeat stays live, one without is blind within three', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 200 }),
      fc.nat(600_000),
      (gaps, silence) => {
        let now = 0;
        let state = after(start, heard(0));
        for (const gap of gaps) {
          now += gap;
          expect(gradeFeed(state, well, now).grade).toBe('live');
          state = stepTunnel(state, heard(now));
        }
        const expected = silence >= BLIND_AFTER_MS ? 'blind' : silence >= LATE_AFTER_MS ? 'late' : 'live';
        expect(gradeFeed(state, well, now + silence).grade).toBe(expected);
      },
    ),
  );
});

test('in every sequence, blind means nothing received for three heartbeats, and the reverse', () => {
  const step = fc.tuple(
    fc.constantFrom('dial', 'heard', 'silent', 'lost', 'woke'),
    fc.integer({ min: 0, max: 120_000 }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (series) => {
      let now = 0;
      let expectedSince = 0;
      let state = after(start);
      for (const [type, pause] of series) {
        now += pause;
        const before = state;
        state = stepTunnel(state, { type, at: now, attempt: 0, until: now, why: 'x' });
        if (type === 'woke') expectedSince = now;
        else if (state.heardAt !== before.heardAt) expectedSince = now;
        const later = now + 45_000;
        expect(gradeFeed(state, well, later).grade === 'blind').toBe(later - expectedSince >= BLIND_AFTER_MS);
      }
    }),
  );
});
