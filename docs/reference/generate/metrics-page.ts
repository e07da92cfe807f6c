// docs/reference/metrics.md: every metric of the daemon and of the relay. Both are started in memory and a temporary
// folder to read what they register: labels are only in the registry, not in the output of /metrics.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createByteBudget } from '@svc/lib/read-body';
import { runDaemon } from '../../../packages/monitor/src/daemon/run.ts';
import { readMachine } from '../../../packages/monitor/src/kernel/config/environment.ts';
import { createMetrics } from '../../../packages/relay/src/http/metrics.ts';
import { createLogger } from '../../../packages/relay/src/http/relay-parts.ts';
import { createRelayServer } from '../../../packages/relay/src/http/server.ts';
import { createMemoryEngine } from '../../../packages/relay/src/http/testing/memory-engine.ts';
import { noLimits, noNetworks } from '../../../packages/relay/src/limits/limits.ts';

import { code, codes, page, table, words } from './markdown.ts';

type Registering = { registerMetric: (this: Registering, metric: Described) => void };
type Described = { name: string; help: string; type: string; labelNames: readonly string[] };

export async function metricsPage(): Promise<string> {
  const daemon = await registeredBy(startDaemon);
  const relay = await registeredBy(startRelay);
  return page('Metrics', intro, [
    `## The daemon\n\n\`GET /metrics\`, for requests from this machine.\n\n${metricTable(daemon)}`,
    `## The relay\n\n\`GET /metrics\` of \`svc-relay\`, for local and private addresses. Node’s own metrics (\`process_…\`, \`nodejs_…\`) are included.\n\n${metricTable(relay)}`,
  ]);
}

const intro = [
  'Every metric in Prometheus format. How to scrape, chart and alert on them: [observability](../guide/observability.md). Ready-made files: [`examples/observability/`](../../examples/observability/), [`examples/relay/observability/`](../../examples/relay/observability/).',
];

function metricTable(metrics: readonly Described[]): string {
  return table(
    ['Metric', 'Type', 'Labels', 'Meaning'],
    metrics
      .filter(({ name }) => name.startsWith('svc_'))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, type, labelNames, help }) => [code(name), type, codes(labelNames), words(help)]),
  );
}

/** The metrics that are registered, in any registry, during the start. */
async function registeredBy(start: () => Promise<void>): Promise<Described[]> {
  const seen = new Map<string, Described>();
  const prototype = Object.getPrototypeOf(createMetrics().registry) as Registering;
  const original = prototype.registerMetric;
  prototype.registerMetric = function (metric) {
    const { name, help, labelNames } = metric;
    seen.set(name, { name, help, labelNames, type: metric.constructor.name.toLowerCase() });
    original.call(this, metric);
  };
  try {
    await start();
  } finally {
    prototype.registerMetric = original;
  }
  return [...seen.values()];
}

async function startDaemon(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-reference-'));
  try {
    const environment = { SVC_MONITOR_PORT: '0' };
    const daemon = await runDaemon({
      machine: readMachine(environment, home),
      environment,
      folder: home,
      version: '0.0.0',
      pid: process.pid,
      dataRootTrouble: () => null,
      logTo: { write: () => undefined },
      now: () => new Date(),
    });
    await daemon.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function startRelay(): Promise<void> {
  const engine = createMemoryEngine(() => new Error('no engine'));
  createRelayServer({
    engine,
    spill: {
      publish: engine.publish,
      state: () => ({ total: 0, waiting: 0, bytes: 0, oldestAt: null, refusing: null }),
      close: async () => undefined,
    },
    limits: noLimits,
    settings: {
      version: '0.0.0',
      publicUrl: null,
      openChannels: false,
      pingSeconds: 30,
      maxUnsentBytes: 0,
      stallMs: 60_000,
      trustedProxies: noNetworks,
      allowedSenders: null,
      createKeyHash: null,
    },
    logger: createLogger({ write: () => undefined }, 'debug'),
    metrics: createMetrics(),
    budget: createByteBudget(1),
    now: Date.now,
  });
}
