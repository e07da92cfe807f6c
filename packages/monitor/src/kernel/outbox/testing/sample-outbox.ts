import { effectKinds } from '../../../features/effect-kinds.ts';
import { draft } from '../../log/event-line.ts';
import type { Effect } from '../effect.ts';
import { createOutboxStore, type OutboxStore, openOutboxDatabase } from '../outbox-store.ts';

export type MoveTicket = Extract<Effect, { kind: 'move-ticket' }>;

export function move(seq: number, ticket = 'ABC-1', phase: MoveTicket['phase'] = 'done'): MoveTicket {
  return { key: `${seq}:move-ticket:${ticket}`, seq, kind: 'move-ticket', ticket, phase };
}

export function append(seq: number): Effect {
  const detail = { reason: 'worker-dead', message: 'Its process is gone', severity: 'high' } as const;
  return {
    key: `${seq}:append:comms.attention`,
    seq,
    kind: 'append',
    draft: draft('comms.attention', { ticket: `ABC-${seq}` }, detail),
  };
}

export function openStore(
  path: string,
  { lastSeq = 0, clock = { now: () => 1_000 } }: { lastSeq?: number; clock?: { now: () => number } } = {},
): OutboxStore {
  return createOutboxStore({ kinds: effectKinds, database: openOutboxDatabase(path), lastSeq, clock });
}
