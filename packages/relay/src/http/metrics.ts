// The relay's own figures, in Prometheus format at /metrics. No label names a channel or an address. What is
// counted on the hot path is a plain number, handed to Prometheus when it asks.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const bytes = { posted: 0, delivered: 0 };
  const counts = { delivered: 0, gaps: 0 };
  total(
    registry,
    'svc_relay_post_bytes_total',
    'Bytes of bodies that were stored or held',
    () => bytes.posted,
  );
  total(registry, 'svc_relay_delivered_total', 'Deliveries written to subscribers', () => counts.delivered);
  total(registry, 'svc_relay_delivered_bytes_total', 'Bytes of those, framed', () => bytes.delivered);
  total(registry, 'svc_relay_gaps_total', 'Subscribers told that something is missing', () => counts.gaps);
  return {
    registry,
    bytes,
    counts,
    posts: createTally(registry, 'svc_relay_posts_total', 'Posts by outcome', 'outcome'),
    subscriptions: createTally(
      registry,
      'svc_relay_subscriptions_total',
      'Subscriptions asked for, by outcome',
      'outcome',
    ),
    ended: createTally(
      registry,
      'svc_relay_subscriptions_ended_total',
      'Streams that ended, by reason',
      'reason',
    ),
    created: createTally(registry, 'svc_relay_channels_created_total', 'Channels made, by kind', 'kind'),
    postSeconds: new Histogram({
      name: 'svc_relay_post_seconds',
      help: 'From the head of a post to its answer, for those that were stored or held',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 10],
      registers: [registry],
    }),
  };
}

export type Tally = { add: (value: string) => void };

function createTally(registry: Registry, name: string, help: string, label: string): Tally {
  const counts = new Map<string, number>();
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        this.reset();
        for (const [value, count] of counts) this.inc({ [label]: value }, count);
      },
    }),
  );
  return { add: (value) => void counts.set(value, (counts.get(value) ?? 0) + 1) };
}

/** A figure that only grows, read when it is asked for. */
export function total(registry: Registry, name: string, help: string, read: () => number): void {
  registry.registerMetric(
    new Counter({
      name,
      help,
      registers: [],
      collect() {
        this.reset();
        this.inc(read());
      },
    }),
  );
}

/** A figure that is read when it is asked for. */
export function observe(registry: Registry, name: string, help: string, read: () => number): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read());
      },
    }),
  );
}
