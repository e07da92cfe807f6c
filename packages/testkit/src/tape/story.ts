// What the stories of the runs share: the tellers of all tickets, and how a run and its waves are told.
import { plannedTicket, type TapeRun } from './product.ts';
import type { ChangeTeller } from './teller.ts';
import type { Told } from './told.ts';

export type Story = Told & {
  /** The one teller of a ticket. */
  of: (ticket: string) => ChangeTeller;
};

export function tellRun({ facts }: Story, run: TapeRun, at: number, event: 'started' | 'completed'): void {
  const tickets = run.waves.flat();
  const detail = {
    name: run.name,
    tickets,
    waves: run.waves.length,
    plan: run.waves,
    maxParallel: 8,
    blockedBy: blockersIn(tickets),
    by: 'mira',
  };
  facts.push({
    at,
    way: 'event',
    draft: () => ({
      event: `orchestrator.run.${event}`,
      scope: { orchestrator: run.id },
      detail: event === 'started' ? detail : { name: run.name },
    }),
  });
}

/** What blocks what, by ticket. */
function blockersIn(tickets: readonly string[]): Record<string, readonly string[]> {
  const blocked = tickets.map((ticket) => [ticket, plannedTicket(ticket).blockedBy] as const);
  return Object.fromEntries(blocked.filter(([, blockers]) => blockers.length > 0));
}

export function tellWave(
  { facts }: Story,
  run: TapeRun,
  wave: number,
  at: number,
  event: 'started' | 'completed' | 'blocked',
  reason?: string,
): void {
  const tickets = run.waves[wave - 1] ?? [];
  const detail = { wave, tickets, ...(reason && { reason }) };
  facts.push({
    at,
    way: 'event',
    draft: () => ({ event: `orchestrator.wave.${event}`, scope: { orchestrator: run.id }, detail }),
  });
}

/** The usual way to a pull request; `length` is about how many minutes the building takes. */
export function usualWalk(length: number) {
  return [
    ['researching', length * 0.3],
    ['planning', length * 0.2],
    ['implementing', length],
    ['validating', length * 0.3],
    ['shipping', length * 0.1],
  ] as const;
}
