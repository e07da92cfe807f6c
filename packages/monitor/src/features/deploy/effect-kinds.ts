// What a line causes for a deploy.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    'prove-descendant': { repo: string; mergeSha: string; sha: string; worktreePath: string | null };
  }
}

export const deployEffectKinds = {
  'prove-descendant': { lane: 'codehost' },
} as const satisfies Partial<EffectKinds>;
