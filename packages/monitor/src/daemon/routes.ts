// Every route of the daemon, each with the parts that answer it.
import type { FastifyPluginCallback } from 'fastify';
import { attentionRoutes } from '../http/attention-routes.ts';
import { briefingRoutes } from '../http/briefing-routes.ts';
import { doctorRoutes } from '../http/doctor-routes.ts';
import { eventRoutes } from '../http/event-routes.ts';
import { feedRoutes } from '../http/feed-routes.ts';
import { healthRoutes } from '../http/health-routes.ts';
import { otelRoutes } from '../http/otel-routes.ts';
import { outboxRoutes } from '../http/outbox-routes.ts';
import { runRoutes } from '../http/run-routes.ts';
import { stateRoutes } from '../http/state-routes.ts';
import { summarizeRoutes } from '../http/summarize-routes.ts';
import { ticketRoutes } from '../http/ticket-routes.ts';
import { workerRoutes } from '../http/worker-routes.ts';
import type { EventLog } from '../log/event-log.ts';
import type { SignalStore } from '../runs/signal-store.ts';
import type { Summaries } from '../summarize/create-summaries.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DaemonBoard } from './board.ts';
import type { CodehostFeed } from './codehost-feed.ts';
import type { Effects } from './effects.ts';
import type { Feeds } from './feeds.ts';
import type { Orchestration } from './orchestration.ts';
import type { createSelfCheck } from './self-check.ts';
import type { Telemetry } from './telemetry.ts';

export function daemonRoutes(parts: {
  health: () => object;
  metrics: Metrics;
  log: EventLog;
  board: DaemonBoard;
  feeds: Feeds;
  codehost: CodehostFeed;
  effects: Effects;
  orchestration: Orchestration;
  signals: SignalStore;
  summaries: Summaries;
  telemetry: Telemetry;
  selfCheck: ReturnType<typeof createSelfCheck>;
  now: () => Date;
}): FastifyPluginCallback[] {
  const { log, board, feeds, effects, orchestration, signals, summaries, telemetry, now } = parts;
  const { state, boardAt } = board;
  const { append } = log;
  const nowMs = (): number => now().getTime();
  return [
    healthRoutes(parts.health, parts.metrics),
    eventRoutes({ log, now: nowMs }),
    feedRoutes({ report: feeds.report, compare: parts.codehost.compare, ping: feeds.ping }),
    stateRoutes({ state, boardAt, now: nowMs }),
    attentionRoutes({ state, append, now: nowMs }),
    workerRoutes({ state, append, now: nowMs }),
    ticketRoutes({ report: append, outcomeOf: effects.moveOf }),
    runRoutes({ state, append, signals, ...orchestration, now }),
    summarizeRoutes(summaries),
    briefingRoutes(summaries),
    otelRoutes({ backends: telemetry.backends, status: telemetry.status }),
    doctorRoutes({ check: parts.selfCheck }),
    outboxRoutes({ list: effects.list, figures: effects.figures, tryAgain: effects.tryAgain }),
  ];
}
