// What the tunnel is doing, as a pure machine. Its modes, what enters and what leaves them:
//
//   idle         not started, or stopped.            start → connecting
//   connecting   dialling, or connected and nothing  heard → live, silent → late, lost → backing-off
//                heard yet.
//   live         the relay was heard on this         silent → late, lost → backing-off
//                connection.
//   late         the relay was silent for too long:  heard → live, lost → backing-off
//                the connection was given up and a
//                new one is being dialled.
//   backing-off  waiting for the next attempt.       dial → connecting
//   disabled     no channel or no secret.            nothing leaves it
//
// `woke` (the machine slept, or its clock was set) leads from any running mode to connecting, and `stop`
// to idle. Anything that the relay sends counts as heard: ready, ping, delivery or comment.

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
  /** When the relay was last heard, on whichever connection. */
  heardAt: number | null;
  /** Since when there is reason to expect it: the start, or the wake-up. What was before does not count. */
  expectedSince: number;
  /** Whether it was heard since then. */
  met: boolean;
  /** When the last working connection ended, while there is no other. */
  cutOffAt: number | null;
  /** When the last connections that had been live ended, the newest last. */
  losses: readonly number[];
  /** Why it does not work, until it does. */
  failure: { at: number; why: string; remedy?: string; refusal?: Refusal } | null;
};

/** The relay answered, and says no: waiting does not mend it. */
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

/** As many losses are remembered as make a connection unstable. */
export const REMEMBERED_LOSSES = 3;

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
        // A clock that was set back must not make the future look heard.
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

/** Only the end of a connection that worked is a loss; a failed attempt is none. */
function ended(state: TunnelState, at: number): TunnelState {
  if (state.now.mode !== 'live') return state;
  return { ...state, cutOffAt: at, losses: [...state.losses, at].slice(-REMEMBERED_LOSSES) };
}
