// The daemon's figures for `GET /api/figures`, from the same sources as /metrics.
import type { Figures } from '@svc/core';
import type { BudgetFigures } from '../codehost/call-budget.ts';
import type { Counters } from './counters.ts';

export function createFigures(sources: {
  startedAt: string;
  codehost: () => BudgetFigures;
  meter: () => { avoided: number };
  trackerCalls: () => { poll: number; move: number };
  counters: Pick<Counters, 'deliveries' | 'commits' | 'lines'>;
}): () => Figures {
  const { counters } = sources;
  return () => {
    const { calls, callsInLastHour, callsPerHour, quotas, pausedUntil } = sources.codehost();
    return {
      since: sources.startedAt,
      codehost: {
        calls,
        callsInLastHour,
        callsPerHour,
        avoided: sources.meter().avoided,
        quotas: Object.fromEntries(
          Object.entries(quotas).map(([resource, { limit, remaining, resetAt }]) => [
            resource,
            { limit, remaining, resetsAt: new Date(resetAt).toISOString() },
          ]),
        ),
        pausedUntil,
      },
      tracker: sources.trackerCalls(),
      deliveries: counters.deliveries(),
      commits: counters.commits(),
      lines: counters.lines(),
    };
  };
}
