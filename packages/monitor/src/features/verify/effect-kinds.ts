// What a line causes after a verification.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** A merge commit failed its verification: files a ticket or a finding with what to fix. */
    'file-remediation': {
      orchestrator: string;
      ticket: string;
      /** The project folder; null when unknown. */
      project: string | null;
      sha: string | null;
      summary: string | null;
      findings: string[];
    };
  }
}

export const verifyEffects = {
  'file-remediation': {
    lane: 'tracker',
    orderKey: ({ orchestrator, ticket }) => `${orchestrator}/${ticket}`,
  },
} as const satisfies Partial<EffectKinds>;
