// What a line causes in the tracker.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';
import type { TicketPhase } from './ticket-phases.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    'move-ticket': { ticket: string; phase: TicketPhase };
  }
}

export const trackerEffects = {
  'move-ticket': { lane: 'tracker', orderKey: ({ ticket }) => ticket },
} as const satisfies Partial<EffectKinds>;
