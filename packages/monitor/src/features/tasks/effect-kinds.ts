// What becomes of a task.
import type { EffectKinds } from '../../kernel/outbox/effect.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    /** A task becomes a ticket, and then a run. */
    'start-task': { task: string; place: 'tracker' | 'local'; project: string };
  }
}

export const taskEffects = {
  // The code host asks clients to create issues one after the other.
  'start-task': { lane: 'programs', orderKey: ({ place, project }) => `${place}:${project}` },
} as const satisfies Partial<EffectKinds>;
