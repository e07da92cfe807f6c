// The daemon's own figures, in Prometheus format at /metrics.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

// A counter with labels for hot paths: a number in a map, handed to Prometheus only when it is asked for.

export type Tally<Label extends string> = { add: (labels: Readonly<Record<Label, string | number>>) => void };

function createTally<Label extends string>(
  registry: Registry,
  options: { name: string; help: string; labelNames: readonly Label[] },
): Tally<Label> {
  const { name, help, labelNames } = options;
  const counts = new Map<string, number>();
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const values = key.split('\n');
          const labels = labelNames.map((label, index) => [label, values[index] ?? ''] as const);
          this.inc(Object.fromEntries(labels) as Record<Label, string>, count);
        }
      },
    }),
  );
  return {
    add(labels) {
      let key = '';
      for (const label of labelNames) key = key === '' ? String(labels[label]) : `${key}\n${labels[label]}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: createTally(registry, {
      name: 'svc_http_requests_total',
      help: 'Requests by route, method and status',
      labelNames: ['route', 'method', 'status'],
    }),
    deliveries: createTally(registry, {
      name: 'svc_deliveries_total',
      help: 'Deliveries by feed and outcome (accepted, duplicate, or the code of the refusal)',
      labelNames: ['feed', 'outcome'],
    }),
    commitSeconds: new Histogram({
      name: 'svc_log_commit_seconds',
      help: 'Time of one group commit of the event log: write and fdatasync',
      buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1],
      registers,
    }),
    effects: createTally(registry, {
      name: 'svc_effects_total',
      help: 'Effects of lines that were carried out or given up, by kind',
      labelNames: ['kind', 'outcome'],
    }),
    rulesFired: createTally(registry, {
      name: 'svc_rules_fired_total',
      help: 'Lines that a rule is meant for, by rule and outcome (fired, held back by its limit, failed)',
      labelNames: ['rule', 'outcome'],
    }),
    backendQueries: createTally(registry, {
      name: 'svc_backend_queries_total',
      help: 'Questions to the metrics and the log backend by outcome (answered, cached, failed, slow, busy)',
      labelNames: ['backend', 'outcome'],
    }),
    lines: new Counter({ name: 'svc_log_lines_total', help: 'Lines made durable', registers }),
  };
}

/** A gauge that is read when it is asked for. */
export function observe(metrics: Metrics, name: string, help: string, read: () => number): void {
  observeLabelled(metrics, name, help, [], () => [[{}, read()]]);
}

type Labels = Record<string, string>;

/** The same with labels: one value for each set of them. */
export function observeLabelled(
  metrics: Metrics,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => readonly (readonly [Labels, number])[],
): void {
  metrics.registry.registerMetric(
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        // What there was at the last reading and is no more has no value.
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    }),
  );
}

/** A number that only grows and is kept elsewhere. Its name ends in `_total`. */
export function observeTotal(
  metrics: Metrics,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => readonly (readonly [Labels, number])[],
): void {
  metrics.registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    }),
  );
}
