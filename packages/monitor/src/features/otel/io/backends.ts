// The daemon's telemetry: access to the metrics and log backends.
import { sameJson } from '@svc/lib/canonical-json';
import { messageOf } from '@svc/lib/errors';
import { observeLabelled } from '@svc/lib/metrics';
import { every, type Repeat, type Rounds } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { OutboxRow } from '../../../kernel/outbox/outbox-store.ts';
import type { Settled } from '../../../kernel/outbox/runner.ts';
import type { Metrics } from '../../../kernel/telemetry/metrics.ts';
import type { api } from '../../api.ts';
import type { Config } from '../../config.ts';
import { type BackendChoice, type BackendName, backendOf } from '../proxy-request.ts';
import { shownAddress } from './backend-call.ts';
import { type BackendProxy, createBackendProxy, type ProxyOutcome } from './proxy.ts';

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

// Whether a backend answers. It is probed regularly, so one that starts later is found, and the result of each query
// counts at once.

const PROBE_EVERY_MS = 30_000;

type BackendState = ApiAnswer<typeof api.getTelemetry>['metrics'];

type BackendProbe = {
  /** Probes once. Never rejects: the result is the state. */
  check: () => Promise<void>;
  note: (outcome: ProxyOutcome, why: string | null) => void;
  state: () => BackendState;
};

/** A query that every version of the backend answers at no cost. */
const probePaths = { metrics: '/api/v1/query?query=vector(1)', logs: '/loki/api/v1/labels' } as const;

const REMEDY = 'Start it, or correct its URL (svc config explain otel); svc checks again every 30 s';

export function createBackendProbe(options: {
  name: BackendName;
  choice: BackendChoice;
  proxy: () => Pick<BackendProxy, 'probe'> | undefined;
  now: () => Date;
}): BackendProbe {
  const { choice, now } = options;
  let state: BackendState = choice.use
    ? { ...nothing, state: 'connecting', url: shownAddress(choice.url) }
    : { ...nothing, state: 'disabled', why: choice.why, remedy: choice.remedy };

  function become(next: 'live' | 'degraded', why: string | null): void {
    const at = now().toISOString();
    const since = state.state === next ? state.since : at;
    state = {
      ...state,
      state: next,
      since,
      why,
      remedy: why === null ? null : REMEDY,
      lastAnswerAt: why === null ? at : state.lastAnswerAt,
    };
  }

  return {
    async check() {
      try {
        await options.proxy()?.probe(probePaths[options.name]);
        if (choice.use) become('live', null);
      } catch (error) {
        become('degraded', messageOf(error));
      }
    },
    note(outcome, why) {
      if (outcome === 'answered') become('live', null);
      else if (outcome === 'failed' || outcome === 'slow') become('degraded', why);
    },
    state: () => state,
  };
}

const nothing = { since: null, why: null, remedy: null, url: null, lastAnswerAt: null };
