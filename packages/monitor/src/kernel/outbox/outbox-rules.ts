// Effects that must not overtake each other share an order key: they run one at a time, in the order of their lines,
// and one that is being retried holds back those behind it.
import type { Effect } from '../../features/effect.ts';

/** `write-signal:run-1/ABC-1`; null for an effect whose order does not matter. */
export function orderKeyOf(effect: Effect): string | null {
  switch (effect.kind) {
    case 'write-signal':
      return `write-signal:${effect.orchestrator}/${effect.ticket}`;
    case 'move-ticket':
      return `move-ticket:${effect.ticket}`;
    case 'append': {
      // Raising and withdrawing items about one subject stays in order.
      const { orchestrator, ticket, repo } = effect.draft.scope;
      return `append:${orchestrator ?? '-'}/${ticket ?? repo ?? '-'}`;
    }
    case 'file-remediation':
      return `file-remediation:${effect.orchestrator}/${effect.ticket}`;
    // The next one must see whether this one started a run.
    case 'start-run':
      return `start-run:${effect.ticket}`;
    // The code host asks clients to create issues one after the other.
    case 'start-task':
      return `start-task:${effect.place}:${effect.project}`;
    // One at a time for each rule, so a program never runs twice at the same time.
    case 'run-command':
      return `run-command:${effect.rule}`;
    // Those of one machine in the order in which they came.
    case 'team-command':
      return `team-command:${effect.from}`;
    // Messages are independent: one that waits for its agent does not hold back the others.
    case 'message-worker':
    case 'refresh-pull-request':
    case 'prove-descendant':
    case 'notify':
    case 'notify-rule':
      return null;
  }
}

// Effects that wait for the same thing share a lane, and each lane has its own slots. So a signal file, a line of the log
// or an attention item never waits behind calls to a service that is slow or down.

/** How many effects of each lane run at the same time. */
export const laneSlots = {
  /** Files and the log of this machine. */
  local: 4,
  /** Agents and programs on this machine. */
  programs: 4,
  codehost: 4,
  tracker: 4,
  /** The services that notify people. */
  notifiers: 4,
} as const;

export type Lane = keyof typeof laneSlots;
export const lanes = Object.keys(laneSlots) as readonly Lane[];

/** All effects with one order key are of one kind, so they are in one lane and stay in order. */
export const effectLanes = {
  'write-signal': 'local',
  append: 'local',
  // Only makes the next round of polling start earlier.
  'refresh-pull-request': 'local',
  'start-run': 'programs',
  'start-task': 'programs',
  'team-command': 'programs',
  'run-command': 'programs',
  'prove-descendant': 'codehost',
  'message-worker': 'codehost',
  'move-ticket': 'tracker',
  'file-remediation': 'tracker',
  notify: 'notifiers',
  'notify-rule': 'notifiers',
} as const satisfies Record<Effect['kind'], Lane>;

/** A kind that this version does not know is local: it calls nothing, and is given up at once. */
export function laneOf(kind: string): Lane {
  return Object.hasOwn(effectLanes, kind) ? effectLanes[kind as Effect['kind']] : 'local';
}

// When the outbox retries a failed effect, and when it gives up.

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** The longest wait that a service may ask for. */
const LONGEST_ASKED_MS = 60 * 60_000;
const FEWEST_ATTEMPTS = 12;
const LEAST_AGE_MS = 24 * 60 * 60_000;

/** No wait is longer: a later retry time was computed before the clock was set back. */
export const LONGEST_RETRY_WAIT_MS = LONGEST_ASKED_MS;

/**
 * The wait after the `attempts`-th failure, counted from 1; `random` is between 0 and 1. It doubles from one second to
 * five minutes, randomly reduced by up to half; at least `askedMs`, the wait that the service asked for.
 * `retryWaitMs(3, 1)` is 4000.
 */
export function retryWaitMs(attempts: number, random: number, askedMs = 0): number {
  const steady = Math.min(FIRST_MS * 2 ** Math.min(Math.max(attempts - 1, 0), 16), LONGEST_MS);
  const asked = Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) : 0;
  return Math.max(Math.round(steady * (0.5 + random / 2)), asked);
}

/** Both must be used up, the attempts and the day: a laptop that slept for a day has not tried yet. */
export function isTimeToGiveUp(row: { attempts: number; createdAt: number }, now: number): boolean {
  return row.attempts >= FEWEST_ATTEMPTS && now - row.createdAt >= LEAST_AGE_MS;
}
