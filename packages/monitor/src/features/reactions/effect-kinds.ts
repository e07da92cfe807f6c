// Messages to a worker.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';
import type { MessageCause } from '../workers/reaction-causes.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** Notifies the worker that checks failed, a reviewer requested changes, or its ticket was changed. */
    'message-worker': {
      orchestrator: string;
      ticket: string;
      cause: MessageCause;
      /** Counts notifications of this cause, from 1; null for a change of the ticket. */
      number: number | null;
      /** Null for a change of the ticket. */
      repo: string | null;
      pr: number | null;
      /** The head commit concerned. */
      sha: string | null;
      reviewId: number | null;
      url: string | null;
      /** The message; text written by others is fenced and has no control characters. */
      text: string;
    };
  }
}

export const reactionEffects = {
  // Messages are independent: one that waits for its agent does not hold back the others.
  'message-worker': { lane: 'codehost' },
} as const satisfies Partial<EffectKinds>;
