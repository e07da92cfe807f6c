// What a line causes in the signal files of workers.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { EffectKinds } from '../../kernel/outbox/effect.ts';
import type { DeployProgress } from './deploy-fields.ts';

declare module '../../kernel/outbox/effect.ts' {
  interface Effects {
    'write-signal': {
      orchestrator: string;
      ticket: string;
      status: WorkerStatus;
      /** When the worker reported the phase that this is the status of; absent where svc knows it better. */
      reportedAt?: string;
      /** The known fields of the pull request, merged into `pr` of the file. */
      pr: { number?: number; url?: string; state?: string; mergedAt?: string; mergeSha?: string } | null;
      deploy: DeployProgress | null;
    };
  }
}

export const workerEffects = {
  'write-signal': { lane: 'local', orderKey: ({ orchestrator, ticket }) => `${orchestrator}/${ticket}` },
} as const satisfies Partial<EffectKinds>;
