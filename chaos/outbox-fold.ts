// The effects of a line in chaos/outbox.ts: a small fold with its own state and every kind of result. Each effect has a
// unique result, so that none can be hidden by the next.

import type { TicketPhase } from '../packages/monitor/src/features/tracker/ticket-phases.ts';
import { draft, type EventDraft, type EventLine } from '../packages/monitor/src/kernel/log/event-line.ts';
import type { Effect } from '../packages/monitor/src/kernel/outbox/effect.ts';
import type { Random } from '../packages/testkit/src/random.ts';

const TICKETS = 5;
const phases: readonly TicketPhase[] = ['research', 'planning', 'inProgress', 'inReview', 'done'];

type ChaosBoard = {
  seq: number;
  inputs: number;
  /** How often a ticket was moved: the next phase is always a different one. */
  moves: Map<string, number>;
};

export const newBoard = (): ChaosBoard => ({ seq: 0, inputs: 0, moves: new Map() });

export function inputDraft(number: number): EventDraft {
  return {
    event: 'orchestrator.worker.status_changed',
    source: 'orchestrator',
    via: 'local',
    deliveryId: `input-${number}`,
    scope: { orchestrator: 'run', ticket: `T-${number % TICKETS}` },
    detail: { to: 'implementing' },
  };
}

/** The draft for a row that was given up. */
export function gaveUpDraft(key: string, error: string): EventDraft {
  return { ...attention('outbox-gave-up', error), deliveryId: gaveUpDelivery(key) };
}

export const appendDelivery = (key: string): string => `outbox:${key}`;
export const gaveUpDelivery = (key: string): string => `outbox-gave-up:${key}`;
/** Tickets that the tracker does not know: moving one is given up. */
export const isUnknownTicket = (ticket: string): boolean => ticket.startsWith('GONE-');

/** Folds one line and returns its effects, in order. */
export function foldChaosLine(board: ChaosBoard, line: EventLine): Effect[] {
  const { seq } = line;
  board.seq = seq;
  const ticket = line.scope.ticket ?? '-';
  if (line.event === 'comms.attention' && line.detail['reason'] === 'chaos') {
    // The line of an effect requests another effect.
    return [signal(seq, 'attention', ticket)];
  }
  if (line.source !== 'orchestrator') return [];
  board.inputs += 1;
  const effects = [signal(seq, 'run', ticket)];
  if (board.inputs % 2 === 0) effects.push(move(board, seq, ticket));
  if (board.inputs % 3 === 0) {
    const asked = { ...attention('chaos', `line ${seq}`), scope: { orchestrator: 'run', ticket } };
    effects.push({ key: `${seq}:append:comms.attention`, seq, kind: 'append', draft: asked });
  }
  if (board.inputs % 5 === 0) effects.push(move(board, seq, `GONE-${board.inputs}`));
  return effects;
}

function attention(reason: string, message: string): EventDraft {
  return draft('comms.attention', {}, { reason, message, severity: 'low' });
}

function move(board: ChaosBoard, seq: number, ticket: string): Effect {
  const before = board.moves.get(ticket) ?? 0;
  board.moves.set(ticket, before + 1);
  const phase = phases[before % phases.length] ?? 'done';
  return { key: `${seq}:move-ticket:${ticket}`, seq, kind: 'move-ticket', ticket, phase };
}

function signal(seq: number, orchestrator: string, ticket: string): Effect {
  return {
    key: `${seq}:write-signal:${orchestrator}/${ticket}`,
    seq,
    kind: 'write-signal',
    orchestrator,
    ticket,
    status: 'deploying',
    pr: null,
    deploy: {
      environment: 'production',
      // Makes the content of this write unique.
      deploymentId: seq,
      attempts: [],
      startedAt: null,
      deadline: '2026-12-01T00:00:00.000Z',
      completedAt: null,
      result: null,
      containedIn: [],
      provenBy: null,
    },
  };
}

// Where a process is killed, in the order in which an effect passes the points, and how often it may pass one before
// that: log, outbox and effect are hit early and late in a process, during recovery and during normal work.

/** The number of passages of a point that every process reaches. */
const passages = {
  'while-starting': 1,
  'after-log-append': 10,
  'before-accept': 5,
  'inside-accept': 5,
  'after-accept': 5,
  'before-handler': 12,
  'after-effect': 12,
  'before-finish': 12,
  'after-finish': 12,
  'after-retry': 1,
  'before-give-up': 2,
  'inside-give-up': 2,
  'after-give-up': 2,
  'after-attention': 2,
  'after-sent': 2,
  /** Killed from outside, after it has reported this number of written lines. */
  'any-moment': 12,
} as const;

export type KillPoint = keyof typeof passages;
export type PlannedKill = { point: KillPoint; nth: number };

export const killPoints = Object.keys(passages).filter((name): name is KillPoint =>
  Object.hasOwn(passages, name),
);

/** The given number of kills, spread evenly over the points, in random order. */
export function planKills(
  kills: number,
  random: Random,
  points: readonly KillPoint[] = killPoints,
): PlannedKill[] {
  const spread = Array.from({ length: kills }, (_, index) => points[index % points.length] ?? 'any-moment');
  return random.shuffled(spread).map((point) => ({ point, nth: 1 + random.below(passages[point]) }));
}
