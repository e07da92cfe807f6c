// What a line causes for a pull request.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    'refresh-pull-request': { repo: string; pr: number };
  }
}

export const pullRequestEffects = {
  // Only makes the next round of polling start earlier.
  'refresh-pull-request': { lane: 'local' },
} as const satisfies Partial<EffectKinds>;
