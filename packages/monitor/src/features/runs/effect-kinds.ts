// Runs that a line starts.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** A label or an assignment in the tracker starts a run with one ticket. */
    'start-run': {
      ticket: string;
      /** The project folder, as it is served. */
      project: string;
      repo: string;
      /** Who asked for it and who wrote the ticket, as the configuration names them. */
      actor: string;
      author: string;
      by: string | null;
      because: string;
      at: string;
    };
  }
}

export const runEffects = {
  // The next one must see whether this one started a run.
  'start-run': { lane: 'programs', orderKey: ({ ticket }) => ticket },
} as const satisfies Partial<EffectKinds>;
