// The daemon's figures for `GET /api/figures`, from the same sources as /metrics.
import type { Figures, RecentTimes } from '@svc/core';
import type { BudgetFigures } from '../codehost/call-budget.ts';

export function createFigures(sources: {
  startedAt: string;
  codehost: () => BudgetFigures;
  meter: () => { avoided: number };
  trackerCalls: () => { poll: number; move: number };
  deliveries: () => RecentTimes;
  commits: () => RecentTimes;
  lines: () => number;
}): () => Figures {
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
      deliveries: sources.deliveries(),
      commits: sources.commits(),
      lines: sources.lines(),
    };
  };
}
