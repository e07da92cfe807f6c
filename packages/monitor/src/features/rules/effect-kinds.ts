// What a rule that fired causes.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** A rule fired that sends a notification. */
    'notify-rule': { rule: string; ticket: string | null; severity: string; message: string };
    /** A rule fired that runs a command, with the line that it fired on. */
    'run-command': { rule: string; ticket: string | null; command: string; line: number };
  }
}

export const ruleEffects = {
  'notify-rule': { lane: 'notifiers' },
  // One at a time for each rule, so a program never runs twice at the same time.
  'run-command': { lane: 'programs', orderKey: ({ rule }) => rule },
} as const satisfies Partial<EffectKinds>;
