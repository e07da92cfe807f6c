// The daemon's telemetry: the ways to the metrics and log backends, and spans of its own work where an OTLP
// endpoint is set.
import {
  type ApiAnswer,
  type api,
  type BackendName,
  backendOf,
  type Config,
  type Environment,
  readTracingSettings,
  resourceAttributes,
  sameJson,
  scopeAttributes,
} from '@svc/core';
import type { Logger } from 'pino';
import type { OtelBackend } from '../http/otel-routes.ts';
import type { OutboxRow } from '../outbox/outbox-row.ts';
import type { Settled } from '../outbox/settled.ts';
import { type Metrics, observeLabelled, observeTotal } from '../telemetry/metrics.ts';
import { createBackendProbe, PROBE_EVERY_MS } from '../telemetry/probe.ts';
import { createBackendProxy } from '../telemetry/proxy.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { openTracing } from '../telemetry/tracing.ts';
import { scopeOfEffect } from './effects.ts';
import { every, type Repeat, type Rounds } from './every.ts';

const titles = { metrics: 'The metrics backend', logs: 'The log backend' } as const;

export type Telemetry = {
  backend: (name: BackendName) => OtelBackend;
  /** The configuration has changed: other backends, or none. */
  reconfigure: () => Promise<void>;
  tracer: Tracer;
  /** What was made of an effect: counted, and a span from its line to its end. */
  noteEffect: (row: OutboxRow, settled: Settled) => void;
  /** For health and `GET /api/otel/status`. */
  status: () => ApiAnswer<typeof api.getTelemetry>;
  start: () => void;
  stop: () => Promise<void>;
};

export async function createTelemetry(options: {
  configs: () => readonly Config[];
  environment: Environment;
  hostName: string;
  version: string;
  metrics: Metrics;
  logger: Logger;
  now: () => Date;
  repeat?: Repeat;
}): Promise<Telemetry> {
  const { configs, metrics, logger, now } = options;
  const tracing = await openTracing({
    settings: readTracingSettings(options.environment),
    version: options.version,
    attributes: resourceAttributes({
      project: soleProject(configs()),
      hostname: options.hostName,
      // The daemon serves many branches and runs: those stand in the spans.
      branch: null,
      ticket: null,
      ticketPrefixes: [],
      orchestration: null,
    }),
  });
  const { state: atStart, why } = tracing.state();
  logger.info({ state: atStart, why }, 'tracing');

  const open = (name: BackendName) => {
    const choice = backendOf(name, configs());
    const probe = createBackendProbe({ name, choice, proxy: () => proxy, now });
    const proxy = choice.use
      ? createBackendProxy({
          title: titles[name],
          baseUrl: choice.url,
          now: () => now().getTime(),
          onOutcome(outcome, reason) {
            metrics.backendQueries.add({ backend: name, outcome });
            probe.note(outcome, reason);
          },
        })
      : undefined;
    return { choice, proxy, probe };
  };
  let opened = { metrics: open('metrics'), logs: open('logs') };
  const inUse = () => [opened.metrics, opened.logs].filter(({ choice }) => choice.use);
  observeLabelled(
    metrics,
    'svc_backend_up',
    'Whether a configured backend answers (1) or not (0)',
    ['backend'],
    () =>
      (['metrics', 'logs'] as const)
        .filter((name) => opened[name].choice.use)
        .map((backend) => [{ backend }, opened[backend].probe.state().state === 'live' ? 1 : 0] as const),
  );
  observeTotal(metrics, 'svc_trace_spans_total', 'Spans by outcome (sent, lost)', ['outcome'], () => {
    const { sent, lost } = tracing.state();
    return [
      [{ outcome: 'sent' }, sent],
      [{ outcome: 'lost' }, lost],
    ];
  });
  const failed = (error: unknown): void => logger.error({ err: error }, 'a backend cannot be looked for');
  let rounds: Rounds[] = [];
  let isStarted = false;
  function start(): void {
    isStarted = true;
    rounds = inUse().map(({ probe }) => every(PROBE_EVERY_MS, probe.look, failed, options.repeat));
    for (const round of rounds) void round.runNow();
  }
  async function stop(): Promise<void> {
    for (const { proxy } of inUse()) proxy?.stop();
    await Promise.all(rounds.map((round) => round.stop()));
  }
  return {
    backend: (name) => opened[name],
    async reconfigure() {
      const isSame = (['metrics', 'logs'] as const).every((name) =>
        sameJson(opened[name].choice, backendOf(name, configs())),
      );
      if (isSame) return;
      await stop();
      opened = { metrics: open('metrics'), logs: open('logs') };
      if (isStarted) start();
    },
    tracer: tracing.tracer,
    noteEffect(row, settled) {
      metrics.effects.add({ kind: row.kind, outcome: settled.state });
      traceEffect(tracing.tracer, row, settled);
    },
    status: () => ({
      metrics: opened.metrics.probe.state(),
      logs: opened.logs.probe.state(),
      tracing: tracing.state(),
    }),
    start,
    async stop() {
      await Promise.all([stop(), tracing.close()]);
    },
  };
}

/** From the moment the outbox took it to its end, however many attempts lay between. */
function traceEffect(tracer: Tracer, row: OutboxRow, settled: Settled): void {
  const span = tracer.startSpan('effect', noAttributes, { at: row.createdAt, causedBy: row.seq });
  if (!span.recording) return;
  span.set({
    'svc.effect.kind': row.kind,
    'svc.effect.key': row.key,
    'svc.effect.attempts': row.attempts + 1,
    'svc.seq': row.seq,
    ...scopeAttributes(scopeOfEffect(row.effect)),
  });
  span.end(settled.state, settled.state === 'given-up');
}

const noAttributes = {};

/** The name of the project, where the daemon serves one only. */
function soleProject(configs: readonly Config[]): string | null {
  const [only, ...others] = configs;
  if (only === undefined || others.length > 0) return null;
  return only.svc.project.name ?? only.svc.projectKey ?? null;
}
