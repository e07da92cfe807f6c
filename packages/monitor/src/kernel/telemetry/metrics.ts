// The daemon's own figures, in Prometheus format at /metrics.
import { createTally } from '@svc/lib/metrics';
import { Counter, Histogram, Registry } from 'prom-client';
import type { RecentTimes } from './recent-times.ts';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: createTally(
      { registry },
      {
        name: 'svc_http_requests_total',
        help: 'Requests by route, method and status',
        labelNames: ['route', 'method', 'status'],
      },
    ),
    deliveries: createTally(
      { registry },
      {
        name: 'svc_deliveries_total',
        help: 'Deliveries by feed and outcome (accepted, duplicate, or the code of the refusal)',
        labelNames: ['feed', 'outcome'],
      },
    ),
    commitSeconds: new Histogram({
      name: 'svc_log_commit_seconds',
      help: 'Time of one group commit of the event log: write and fdatasync',
      buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1],
      registers,
    }),
    effects: createTally(
      { registry },
      {
        name: 'svc_effects_total',
        help: 'Effects that were executed or given up, by kind',
        labelNames: ['kind', 'outcome'],
      },
    ),
    rulesFired: createTally(
      { registry },
      {
        name: 'svc_rules_fired_total',
        help: 'Lines that match a rule, by rule and outcome (fired, limited, failed)',
        labelNames: ['rule', 'outcome'],
      },
    ),
    backendQueries: createTally(
      { registry },
      {
        name: 'svc_backend_queries_total',
        help: 'Queries to the metrics and the log backend by outcome (answered, cached, failed, slow, busy)',
        labelNames: ['backend', 'outcome'],
      },
    ),
    lines: new Counter({ name: 'svc_log_lines_total', help: 'Lines made durable', registers }),
  };
}

// How long the most recent operations took: a fixed number of times is kept.

const KEPT = 1_000;

export function createRecentTimes(kept = KEPT) {
  const times = new Float64Array(kept);
  let count = 0;
  return {
    note(milliseconds: number): void {
      times[count % kept] = milliseconds;
      count += 1;
    },
    figures(): RecentTimes {
      const sampled = Math.min(count, kept);
      const sorted = times.slice(0, sampled).toSorted();
      /** The time that this share of the operations did not exceed. */
      const at = (part: number): number | null => {
        const time = sorted[Math.max(0, Math.ceil(part * sampled) - 1)];
        return time === undefined ? null : Math.round(time * 1000) / 1000;
      };
      return { count, sampled, p50Ms: at(0.5), p99Ms: at(0.99) };
    },
  };
}
