// What a machine of the team asks this one to do.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** A member of the team asks for it: executed if the owner of this machine allows it. */
    'team-command': { command: string; from: string };
  }
}

export const teamEffects = {
  // Those of one machine in the order in which they came.
  'team-command': { lane: 'programs', orderKey: ({ from }) => from },
} as const satisfies Partial<EffectKinds>;
