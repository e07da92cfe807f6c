// What the run loop writes into the log.
import type { Act, EventDraft } from '@svc/core';

type Of<Kind extends Act['kind']> = Extract<Act, { kind: Kind }>;

export function ofWave(
  { orchestrator, wave, tickets }: Of<'start-wave' | 'block-wave' | 'complete-wave'>,
  state: 'started' | 'blocked' | 'completed',
  more: Record<string, unknown>,
): EventDraft {
  return {
    event: `orchestrator.wave.${state}`,
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator },
    detail: { wave, tickets, ...more },
  };
}

export function raised(
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
  reason: string,
  message: string,
): EventDraft {
  return {
    event: 'comms.attention',
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator, ticket },
    detail: {
      reason,
      message,
      severity: 'high',
      remedy: `svc orchestrate retry ${orchestrator} ${ticket}`,
    },
  };
}

export function runCompleted(orchestrator: string): EventDraft {
  return {
    event: 'orchestrator.run.completed',
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator },
    detail: {},
  };
}
