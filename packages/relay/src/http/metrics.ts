// The relay's own figures, in Prometheus format at /metrics. No label contains a channel or an address. Counters on the
// hot path are plain numbers, read when Prometheus asks.
import { createTally, observeTotal } from '@svc/lib/metrics';
import { Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const bytes = { posted: 0, delivered: 0 };
  const counts = { delivered: 0, gaps: 0 };
  const total = (name: string, help: string, read: () => number): void =>
    observeTotal({ registry }, name, help, [], () => [[{}, read()]]);
  total('svc_relay_post_bytes_total', 'Bytes of bodies that were stored or held', () => bytes.posted);
  total('svc_relay_delivered_total', 'Deliveries written to subscribers', () => counts.delivered);
  total('svc_relay_delivered_bytes_total', 'Bytes written to subscribers, framed', () => bytes.delivered);
  total('svc_relay_gaps_total', 'Gaps reported to subscribers', () => counts.gaps);
  return {
    registry,
    bytes,
    counts,
    posts: createTally(
      { registry },
      { name: 'svc_relay_posts_total', help: 'Posts by outcome', labelNames: ['outcome'] },
    ),
    records: createTally(
      { registry },
      { name: 'svc_relay_records_total', help: 'Records of teams by outcome', labelNames: ['outcome'] },
    ),
    subscriptions: createTally(
      { registry },
      {
        name: 'svc_relay_subscriptions_total',
        help: 'Subscription requests by outcome',
        labelNames: ['outcome'],
      },
    ),
    ended: createTally(
      { registry },
      {
        name: 'svc_relay_subscriptions_ended_total',
        help: 'Streams that ended, by reason',
        labelNames: ['reason'],
      },
    ),
    created: createTally(
      { registry },
      { name: 'svc_relay_channels_created_total', help: 'Channels made, by kind', labelNames: ['kind'] },
    ),
    postSeconds: new Histogram({
      name: 'svc_relay_post_seconds',
      help: 'Time from the head of a post to its answer, for posts that were stored or held',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 10],
      registers: [registry],
    }),
  };
}
