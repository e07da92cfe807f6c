// The current grade of a feed, which is shown, and whose changes are written to the log. It depends on what the relay
// sent, not on what is configured, and allows some time, so that an idle feed is not reported as dead, a dead one not
// as idle, and a dropped connection that is back at once not at all:
//
//   disabled    there is no channel or no secret.
//   connecting  nothing received yet, and less than three heartbeats since it could be expected.
//   live        connected and receiving, or cut off for less than one heartbeat.
//   late        silent for 2.5 heartbeats, or cut off for one.
//   blind       nothing received for three heartbeats, whatever the reason; or the relay requires a read key that we
//               do not have, so waiting does not help.
//   degraded    receiving, but unreliable: the log cannot be written, signatures fail, or it keeps breaking.
import { PUBLIC_PING_MS } from '@svc/contract/relay/relay-headers';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { feedGrades } from './topics.ts';

/** Marks a delivery that tests the connection; it is never logged. Its value is the id of the test. */
export const SELF_TEST_HEADER = 'x-svc-self-test';

// The tunnel as a pure state machine. Its modes, and what enters and leaves them:
//
//   idle         not started, or stopped.            start → connecting
//   connecting   dialling, or connected and nothing  heard → live, silent → late, lost → backing-off
//                received yet.
//   live         the relay sent something on this    silent → late, lost → backing-off
//                connection.
//   late         the relay was silent for too long:  heard → live, lost → backing-off
//                the connection was given up and a
//                new one is being dialled.
//   backing-off  waiting for the next attempt.       dial → connecting
//   disabled     no channel or no secret.            nothing leaves it
//
// `woke` (the machine slept, or its clock was set) leads from any running mode to connecting, and `stop` to idle.
// Anything that the relay sends counts as `heard`: ready, ping, delivery or comment.

export type TunnelMode =
  | { mode: 'idle' }
  | { mode: 'connecting'; since: number; attempt: number }
  | { mode: 'live'; since: number }
  | { mode: 'late'; since: number }
  | { mode: 'backing-off'; since: number; attempt: number; until: number }
  | { mode: 'disabled'; why: string; remedy: string };

export type TunnelState = {
  now: TunnelMode;
  startedAt: number | null;
  /** When the relay last sent something, on any connection. */
  heardAt: number | null;
  /** Since when something can be expected: the start, or the wake-up. Earlier times do not count. */
  expectedSince: number;
  /** Whether something was received since then. */
  met: boolean;
  /** When the last working connection ended, until there is another. */
  cutOffAt: number | null;
  /** When the last connections that had been live ended, the newest last. */
  losses: readonly number[];
  /** Why it does not work; null while it does. */
  failure: { at: number; why: string; remedy?: string; refusal?: Refusal } | null;
};

/** The relay answered with a refusal: waiting does not help. */
export type Refusal = 'read-key' | 'channel';

export type TunnelEvent = { at: number } & (
  | { type: 'start' }
  | { type: 'dial'; attempt: number }
  | { type: 'heard' }
  | { type: 'silent' }
  | { type: 'lost'; attempt: number; until: number; why: string; remedy?: string; refusal?: Refusal }
  | { type: 'woke' }
  | { type: 'stop' }
);

/** The number of losses that makes a connection unstable, and the number that is remembered. */
const REMEMBERED_LOSSES = 3;

export function idleTunnel(): TunnelState {
  return {
    now: { mode: 'idle' },
    startedAt: null,
    heardAt: null,
    expectedSince: 0,
    met: false,
    cutOffAt: null,
    losses: [],
    failure: null,
  };
}

export function disabledTunnel(why: string, remedy: string): TunnelState {
  return { ...idleTunnel(), now: { mode: 'disabled', why, remedy } };
}

export function stepTunnel(state: TunnelState, event: TunnelEvent): TunnelState {
  const { mode } = state.now;
  if (mode === 'disabled') return state;
  if (mode === 'idle') return event.type === 'start' ? started(state, event.at) : state;
  switch (event.type) {
    case 'start':
      return state;
    case 'stop':
      return { ...state, now: { mode: 'idle' }, failure: null };
    case 'dial':
      if (mode !== 'backing-off') return state;
      return { ...state, now: { mode: 'connecting', since: event.at, attempt: event.attempt } };
    case 'heard':
      if (mode === 'backing-off') return state;
      if (mode === 'live') return { ...state, heardAt: event.at };
      return {
        ...state,
        now: { mode: 'live', since: event.at },
        heardAt: event.at,
        met: true,
        cutOffAt: null,
        failure: null,
      };
    case 'silent':
      if (mode === 'backing-off' || mode === 'late') return state;
      return {
        ...ended(state, event.at),
        now: { mode: 'late', since: event.at },
        failure: { at: event.at, why: 'the relay is connected but silent' },
      };
    case 'lost': {
      const { at, attempt, until, why, remedy, refusal } = event;
      return {
        ...ended(state, at),
        now: { mode: 'backing-off', since: at, attempt, until },
        failure: { at, why, ...(remedy !== undefined && { remedy }), ...(refusal && { refusal }) },
      };
    }
    case 'woke':
      return {
        ...expected(state, event.at),
        // A clock that was set back must not leave a last-heard time in the future.
        heardAt: state.heardAt === null ? null : Math.min(state.heardAt, event.at),
      };
  }
}

function started(state: TunnelState, at: number): TunnelState {
  return { ...expected(state, at), startedAt: at };
}

function expected(state: TunnelState, at: number): TunnelState {
  const now = { mode: 'connecting', since: at, attempt: 0 } as const;
  return { ...state, now, expectedSince: at, met: false, cutOffAt: null, losses: [] };
}

/** Only the end of a working connection is a loss; a failed attempt is not. */
function ended(state: TunnelState, at: number): TunnelState {
  if (state.now.mode !== 'live') return state;
  return { ...state, cutOffAt: at, losses: [...state.losses, at].slice(-REMEMBERED_LOSSES) };
}

export const LATE_AFTER_MS = 2.5 * PUBLIC_PING_MS;

export const BLIND_AFTER_MS = 3 * PUBLIC_PING_MS;

const CUT_OFF_MS = PUBLIC_PING_MS;

/** This many losses within this time make a connection unstable. */
const UNSTABLE_WITHIN_MS = 10 * PUBLIC_PING_MS;

/** Known only to the I/O side: whether the log accepts deliveries, and whether signatures match. */
export type FeedConditions = {
  /** Why deliveries are waiting on our side. */
  waiting: string | null;
  /** Several deliveries in a row were rejected; `rewritten` if the relay does not keep the bytes. */
  unauthorised: 'no' | 'signed-otherwise' | 'rewritten-or-signed-otherwise';
};

export type FeedGrade = {
  grade: (typeof feedGrades)[number];
  /** Since when; for `blind`, since when nothing was received. */
  since: number | null;
  /** The problem as a code for programs; null if there is none. */
  code: string | null;
  why: string | null;
  remedy: string | null;
};

const LOGS = 'See: svc monitor logs';

const AGAIN =
  'It is retried automatically, and polling continues; if the problem persists, check the network and the relay';

const ROTATE = 'Run: svc setup-webhooks --force, and restart the daemon with the new secret';

export function gradeFeed(state: TunnelState, conditions: FeedConditions, now: number): FeedGrade {
  const mode = state.now;
  if (mode.mode === 'disabled') return grade('disabled', null, 'not-configured', mode.why, mode.remedy);
  if (mode.mode === 'idle')
    return grade('disabled', null, 'stopped', 'the tunnel is not running', 'Run: svc monitor start');
  if (conditions.waiting !== null)
    return grade(
      'degraded',
      null,
      'deliveries-waiting',
      conditions.waiting,
      'Free disk space; it continues by itself.',
    );

  const silentFor = now - Math.max(state.met ? (state.heardAt ?? 0) : 0, state.expectedSince);
  const why = state.failure?.why ?? null;
  const remedy = state.failure?.remedy ?? AGAIN;
  if (state.failure?.refusal === 'read-key')
    return grade('blind', state.heardAt ?? state.startedAt, 'read-key', why, remedy);
  if (silentFor >= BLIND_AFTER_MS) {
    const since = state.heardAt ?? state.startedAt;
    return grade('blind', since, 'silent', why ?? 'nothing was received from the relay', remedy);
  }
  if (!state.met) return grade('connecting', state.expectedSince, null, why, why && remedy);
  if (silentFor >= LATE_AFTER_MS || (state.cutOffAt !== null && now - state.cutOffAt >= CUT_OFF_MS))
    return grade('late', state.heardAt, 'late', why ?? 'the relay is silent', remedy);
  return degradation(state, conditions, now) ?? grade('live', mode.since, null, null, null);
}

function degradation(state: TunnelState, conditions: FeedConditions, now: number): FeedGrade | undefined {
  if (conditions.unauthorised === 'signed-otherwise')
    return grade('degraded', null, 'auth-failing', 'deliveries are signed with another secret', ROTATE);
  if (conditions.unauthorised === 'rewritten-or-signed-otherwise') {
    const why =
      'deliveries fail the signature check: they are signed with another secret, or the relay rewrites them';
    const remedy = `${ROTATE}; if that does not help, use a relay that keeps the bytes (SVC_RELAY_URL)`;
    return grade('degraded', null, 'auth-failing', why, remedy);
  }
  const [oldest] = state.losses;
  if (state.losses.length < REMEMBERED_LOSSES || oldest === undefined || now - oldest > UNSTABLE_WITHIN_MS)
    return undefined;
  return grade('degraded', oldest, 'unstable', 'the connection to the relay keeps breaking', LOGS);
}

/** Whether the difference is worth a line; a changed time or wording is not. */
export function isOtherGrade(one: FeedGrade, other: FeedGrade): boolean {
  return one.grade !== other.grade || one.code !== other.code;
}

/**
 * The line for a change of grade. `relay` is the position up to which the channel was read, if the relay gives one:
 * with it a feed that has delivered nothing yet can be resumed after a restart.
 */
export function feedEdge(
  feed: string,
  from: FeedGrade | null,
  to: FeedGrade,
  relay?: { channel: string; id: string },
): EventDraft {
  return {
    event: `monitor.feed.${to.grade}`,
    source: 'monitor',
    via: 'local',
    scope: {},
    ...(relay !== undefined && { relay }),
    detail: {
      feed,
      ...(from !== null && { from: from.grade }),
      ...(to.why !== null && { reason: to.why }),
      ...(to.remedy !== null && { remedy: to.remedy }),
      ...(to.since !== null && { since: new Date(to.since).toISOString() }),
    },
  };
}

function grade(
  name: FeedGrade['grade'],
  since: number | null,
  code: string | null,
  why: string | null,
  remedy: string | null,
): FeedGrade {
  return { grade: name, since, code, why, remedy };
}
