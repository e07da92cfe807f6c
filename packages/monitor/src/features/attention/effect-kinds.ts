// Notifications of an attention item.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** An attention item was opened: sends notifications. */
    notify: {
      attention: string;
      reason: string;
      severity: string;
      message: string;
      remedy: string | null;
    };
  }
}

export const attentionEffects = {
  notify: { lane: 'notifiers' },
} as const satisfies Partial<EffectKinds>;
