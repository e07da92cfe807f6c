// How far a feed can be trusted now: the grade that is shown, and whose edges enter the log. It is graded
// on what the relay let us hear, not on what is configured, and with patience, so that an idle feed is not
// called dead, a dead one is not called idle, and a dropped connection that is back at once is no news:
//
//   disabled    there is no channel or no secret.
//   connecting  nothing heard yet, and less than three heartbeats since it was to be expected.
//   live        connected and heard, or cut off for less than one heartbeat.
//   late        silent for 2.5 heartbeats, or cut off for one.
//   blind       nothing heard for three heartbeats, whatever the reason; or the relay wants a read key that we
//               do not have, which no waiting mends.
//   degraded    heard, but not to be relied on: the log takes nothing, signatures fail, or it keeps breaking.
import type { EventDraft } from '../log/event-line.ts';
import type { feedGrades } from '../log/own-details.ts';
import { PUBLIC_PING_MS } from './relay-protocol.ts';
import { REMEMBERED_LOSSES, type TunnelState } from './tunnel-state.ts';

export const LATE_AFTER_MS = 2.5 * PUBLIC_PING_MS;
export const BLIND_AFTER_MS = 3 * PUBLIC_PING_MS;
const CUT_OFF_MS = PUBLIC_PING_MS;
/** So many losses within so long make a connection unstable. */
const UNSTABLE_WITHIN_MS = 10 * PUBLIC_PING_MS;

/** What only the hands know: whether the log takes deliveries, and whether signatures match. */
export type FeedConditions = {
  /** Why deliveries wait on our side. */
  held: string | null;
  /** Several deliveries in a row were refused; `rewritten` when the relay does not keep the bytes. */
  unauthorised: 'no' | 'signed-otherwise' | 'rewritten-or-signed-otherwise';
};

export type FeedGrade = {
  grade: (typeof feedGrades)[number];
  /** When it came to be so; for `blind`, since when nothing was heard. */
  since: number | null;
  /** What is wrong, for programs; null when nothing is. */
  code: string | null;
  why: string | null;
  remedy: string | null;
};

const LOGS = 'See: svc monitor logs';
const AGAIN =
  'It is tried again by itself, and polling goes on; if it lasts, check the network and the relay';
const ROTATE = 'Run: setup-webhooks.sh --force, and restart the daemon with the new secret';

export function gradeFeed(state: TunnelState, conditions: FeedConditions, now: number): FeedGrade {
  const mode = state.now;
  if (mode.mode === 'disabled') return grade('disabled', null, 'not-configured', mode.why, mode.remedy);
  if (mode.mode === 'idle')
    return grade('disabled', null, 'stopped', 'the tunnel is not running', 'Run: svc-monitor.sh start');
  if (conditions.held !== null)
    return grade('degraded', null, 'held', conditions.held, 'Free disk space; it goes on by itself.');

  const silentFor = now - Math.max(state.met ? (state.heardAt ?? 0) : 0, state.expectedSince);
  const why = state.failure?.why ?? null;
  const remedy = state.failure?.remedy ?? AGAIN;
  if (state.failure?.refusal === 'read-key')
    return grade('blind', state.heardAt ?? state.startedAt, 'read-key', why, remedy);
  if (silentFor >= BLIND_AFTER_MS) {
    const since = state.heardAt ?? state.startedAt;
    return grade('blind', since, 'unheard', why ?? 'nothing was heard from the relay', remedy);
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
      'deliveries fail their signature: they are signed with another secret, or the relay rewrites them';
    const remedy = `${ROTATE}; if that does not help, use a relay that keeps the bytes (SVC_RELAY_URL)`;
    return grade('degraded', null, 'auth-failing', why, remedy);
  }
  const [oldest] = state.losses;
  if (state.losses.length < REMEMBERED_LOSSES || oldest === undefined || now - oldest > UNSTABLE_WITHIN_MS)
    return undefined;
  return grade('degraded', oldest, 'unstable', 'the connection to the relay keeps breaking', LOGS);
}

/** Whether the difference is news; a changed time or wording is none. */
export function isOtherGrade(one: FeedGrade, other: FeedGrade): boolean {
  return one.grade !== other.grade || one.code !== other.code;
}

/**
 * The line that tells of an edge. `relay` is the position that the channel is read up to, where the relay
 * gives one: with it a feed that has delivered nothing yet can be resumed after a restart.
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
