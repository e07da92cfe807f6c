// The daemon's telemetry: access to the metrics and log backends.
import {
  type ApiAnswer,
  type api,
  type BackendChoice,
  type BackendName,
  backendOf,
  type Config,
  sameJson,
} from '@svc/core';
import { observeLabelled } from '@svc/lib/metrics';
import { every, type Repeat, type Rounds } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { OutboxRow } from '../outbox/outbox-store.ts';
import type { Settled } from '../outbox/runner.ts';
import type { Metrics } from './metrics.ts';
import { createBackendProbe, PROBE_EVERY_MS } from './probe.ts';
import { type BackendProxy, createBackendProxy } from './proxy.ts';

const titles = { metrics: 'The metrics backend', logs: 'The log backend' } as const;

export type Backend = { choice: BackendChoice; proxy: BackendProxy | undefined };

export type Telemetry = {
  backend: (name: BackendName) => Backend;
  /** The configuration has changed: different backends, or none. */
  reconfigure: () => Promise<void>;
  /** Counts how an effect ended. */
  noteEffect: (row: OutboxRow, settled: Settled) => void;
  /** For health and `GET /api/otel/status`. */
  status: () => ApiAnswer<typeof api.getTelemetry>;
  start: () => void;
  stop: () => Promise<void>;
};

export function createTelemetry(options: {
  configs: () => readonly Config[];
  metrics: Metrics;
  logger: Logger;
  now: () => Date;
  repeat?: Repeat;
}): Telemetry {
  const { configs, metrics, logger, now } = options;

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
  const failed = (error: unknown): void => logger.error({ err: error }, 'a backend cannot be probed');
  let rounds: Rounds[] = [];
  let isStarted = false;
  function start(): void {
    isStarted = true;
    rounds = inUse().map(({ probe }) => every(PROBE_EVERY_MS, probe.check, failed, options.repeat));
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
    noteEffect(row, settled) {
      metrics.effects.add({ kind: row.kind, outcome: settled.state });
    },
    status: () => ({
      metrics: opened.metrics.probe.state(),
      logs: opened.logs.probe.state(),
    }),
    start,
    stop,
  };
}
