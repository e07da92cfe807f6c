// Every route of the daemon, each with the parts that answer it.
import type { ApiAnswer, api, Figures } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import type { Access } from '../access/access.ts';
import type { CodehostFeed } from '../feeds/codehost-feed.ts';
import type { Feeds } from '../feeds/feeds.ts';
import { accessRoutes } from '../http/access-routes.ts';
import { archiveRoutes } from '../http/archive-routes.ts';
import { attentionRoutes } from '../http/attention-routes.ts';
import { briefingRoutes } from '../http/briefing-routes.ts';
import { configRoutes } from '../http/config-routes.ts';
import { doctorRoutes } from '../http/doctor-routes.ts';
import { eventRoutes } from '../http/event-routes.ts';
import { feedRoutes } from '../http/feed-routes.ts';
import { figuresRoutes } from '../http/figures-routes.ts';
import { healthRoutes } from '../http/health-routes.ts';
import { openapiRoutes } from '../http/openapi-routes.ts';
import { otelRoutes } from '../http/otel-routes.ts';
import { outboxRoutes } from '../http/outbox-routes.ts';
import { rulesRoutes } from '../http/rules-routes.ts';
import { runRoutes } from '../http/run-routes.ts';
import { stateRoutes } from '../http/state-routes.ts';
import { summarizeRoutes } from '../http/summarize-routes.ts';
import { ticketRoutes } from '../http/ticket-routes.ts';
import { workerHistoryRoutes } from '../http/worker-history-routes.ts';
import { workerRoutes } from '../http/worker-routes.ts';
import type { EventLog } from '../log/event-log.ts';
import type { JqThreads } from '../log/jq-threads.ts';
import type { Rules } from '../rules/rules.ts';
import type { SignalStore } from '../runs/signal-store.ts';
import type { Summaries } from '../summarize/create-summaries.ts';
import type { Telemetry } from '../telemetry/backends.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DaemonBoard } from './board.ts';
import type { Effects } from './effects.ts';
import type { createExamination } from './examination.ts';
import type { Orchestration } from './orchestration.ts';
import type { Reports } from './reports.ts';
import type { createSelfCheck } from './self-check.ts';
import type { Workers } from './workers.ts';

export function daemonRoutes(parts: {
  health: () => ApiAnswer<typeof api.getHealth>;
  access: Access;
  metrics: Metrics;
  log: EventLog;
  jq: JqThreads;
  board: DaemonBoard;
  feeds: Feeds;
  codehost: CodehostFeed;
  effects: Effects;
  orchestration: Orchestration;
  rules: () => Rules;
  signals: SignalStore;
  workers: Pick<Workers, 'see'>;
  summaries: () => Summaries;
  telemetry: Telemetry;
  selfCheck: ReturnType<typeof createSelfCheck>;
  examine: ReturnType<typeof createExamination>;
  runsDir: string;
  reports: Reports;
  figures: () => Figures;
  /** Names this process among those that serve the same log. */
  life: string;
  version: string;
  now: () => Date;
}): FastifyPluginCallback[] {
  const { log, board, feeds, effects, orchestration, signals, summaries, telemetry, now } = parts;
  const { state, boardAt } = board;
  const { append } = log;
  const nowMs = (): number => now().getTime();
  return [
    healthRoutes(parts.health, parts.metrics),
    eventRoutes({ log, jq: parts.jq, now: nowMs }),
    feedRoutes({ report: feeds.report, compare: parts.codehost.compare, ping: feeds.ping }),
    stateRoutes({ state, boardAt, life: parts.life, now: nowMs }),
    attentionRoutes({ state, append, now: nowMs }),
    workerRoutes({ state, append, now: nowMs }),
    workerHistoryRoutes({ state, log, runsDir: parts.runsDir, now: nowMs }),
    ticketRoutes({ report: append, outcomeOf: effects.moveOf }),
    runRoutes({ state, append, signals, ...orchestration, see: parts.workers.see, now }),
    rulesRoutes({
      list: () => parts.rules().list(),
      test: (...asked) => parts.rules().test(...asked),
      now: nowMs,
    }),
    summarizeRoutes(() => summaries().summarizer),
    briefingRoutes(() => summaries().briefing),
    otelRoutes({ backend: telemetry.backend, status: telemetry.status }),
    doctorRoutes({ check: parts.selfCheck, examine: parts.examine }),
    outboxRoutes({ list: effects.list, figures: effects.figures, tryAgain: effects.tryAgain }),
    configRoutes(parts.reports.configuration),
    archiveRoutes(parts.reports.archive),
    figuresRoutes({ figures: parts.figures }),
    accessRoutes(parts.access),
    openapiRoutes({ version: parts.version }),
  ];
}
