// What the run loop writes into the log.
import { type Act, type DetailOf, draft, type EventDraft } from '@svc/core';

type Of<Kind extends Act['kind']> = Extract<Act, { kind: Kind }>;

const ours = { source: 'orchestrator' } as const;

export function ofWave(
  { orchestrator, wave, tickets }: Of<'start-wave' | 'block-wave' | 'complete-wave'>,
  state: 'started' | 'blocked' | 'completed',
  more: Pick<DetailOf<'orchestrator.wave.blocked'>, 'reason'>,
): EventDraft {
  return draft(`orchestrator.wave.${state}`, { orchestrator }, { wave, tickets, ...more }, ours);
}

export function raised(
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
  reason: string,
  message: string,
): EventDraft {
  const remedy = `svc orchestrate retry ${orchestrator} ${ticket}`;
  const detail = { reason, message, severity: 'high', remedy } as const;
  return draft('comms.attention', { orchestrator, ticket }, detail, ours);
}

export function runCompleted(orchestrator: string): EventDraft {
  return draft('orchestrator.run.completed', { orchestrator }, {}, ours);
}
