import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disabledTunnel, idleTunnel, stepTunnel, type TunnelEvent, type TunnelState } from './feed-grade.ts';

const events = {
  start: { type: 'start', at: 1 },
  dial: { type: 'dial', at: 2, attempt: 3 },
  heard: { type: 'heard', at: 3 },
  silent: { type: 'silent', at: 4 },
  lost: { type: 'lost', at: 5, attempt: 3, until: 9, why: 'it answered 502' },
  woke: { type: 'woke', at: 6 },
  stop: { type: 'stop', at: 7 },
} as const satisfies Record<string, TunnelEvent>;
type EventName = keyof typeof events;

const ways: Record<string, EventName[]> = {
  idle: [],
  connecting: ['start'],
  live: ['start', 'heard'],
  late: ['start', 'heard', 'silent'],
  'backing-off': ['start', 'lost'],
};

function after(names: readonly EventName[], from: TunnelState = idleTunnel()): TunnelState {
  return names.reduce((state, name) => stepTunnel(state, events[name]), from);
}

/** The mode that follows from each mode and event. */
const table: Record<string, Record<EventName, string>> = {
  idle: {
    start: 'connecting',
    dial: 'idle',
    heard: 'idle',
    silent: 'idle',
    lost: 'idle',
    woke: 'idle',
    stop: 'idle',
  },
  connecting: {
    start: 'connecting',
    dial: 'connecting',
    heard: 'live',
    silent: 'late',
    lost: 'backing-off',
    woke: 'connecting',
    stop: 'idle',
  },
  live: {
    start: 'live',
    dial: 'live',
    heard: 'live',
    silent: 'late',
    lost: 'backing-off',
    woke: 'connecting',
    stop: 'idle',
  },
  late: {
    start: 'late',
    dial: 'late',
    heard: 'live',
    silent: 'late',
    lost: 'backing-off',
    woke: 'connecting',
    stop: 'idle',
  },
  'backing-off': {
    start: 'backing-off',
    dial: 'connecting',
    heard: 'backing-off',
    silent: 'backing-off',
    lost: 'backing-off',
    woke: 'connecting',
    stop: 'idle',
  },
};

const rows = Object.entries(table).flatMap(([mode, row]) =>
  Object.entries(row).map(([event, to]) => [mode, event as EventName, to] as const),
);
test.each(rows)('%s, then %s: %s', (mode, event, to) => {
  const before = after(ways[mode] ?? []);
  expect(before.now.mode).toBe(mode);
  expect(stepTunnel(before, events[event]).now.mode).toBe(to);
});

test('nothing leaves disabled', () => {
  const disabled = disabledTunnel('no channel', 'Run: svc setup-webhooks');
  expect(after(Object.keys(events) as EventName[], disabled)).toEqual(disabled);
});

test('a wait shows which attempt failed, until when it lasts and why', () => {
  const state = after(['start', 'heard', 'lost']);
  expect(state.now).toEqual({ mode: 'backing-off', since: 5, attempt: 3, until: 9 });
  expect(state).toMatchObject({ failure: { at: 5, why: 'it answered 502' }, losses: [5], cutOffAt: 5 });
  expect(after(['dial', 'heard'], state)).toMatchObject({ failure: null, cutOffAt: null, losses: [5] });
});

test('a failed attempt is not a loss', () => {
  expect(after(['start', 'lost', 'dial', 'lost']).losses).toEqual([]);
});

test('a clock that was set back does not leave the last-heard time in the future', () => {
  const heard = stepTunnel(after(['start']), { type: 'heard', at: 5_000_000 });
  expect(stepTunnel(heard, { type: 'woke', at: 1_000_000 })).toMatchObject({
    heardAt: 1_000_000,
    expectedSince: 1_000_000,
    met: false,
  });
});

test('every sequence of events keeps the state consistent', () => {
  const event = fc
    .tuple(fc.constantFrom(...Object.values(events)), fc.nat(1_000_000_000))
    .map(([given, at]): TunnelEvent => ({ ...given, at }));
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (series) => {
      let state = idleTunnel();
      for (const given of series) state = stepTunnel(state, given);
      expect(state.losses.length).toBeLessThanOrEqual(3);
      if (state.now.mode === 'live')
        expect(state).toMatchObject({ met: true, cutOffAt: null, failure: null });
      // It can recover from any mode.
      expect(after(['stop', 'start', 'heard'], state).now.mode).toBe('live');
    }),
  );
});
