// Every route of the daemon, with the parts that answer it.
import { within } from '@svc/lib/timeout';
import { agentRoutes } from '../features/agents/routes.ts';
import type { api } from '../features/api.ts';
import { attentionRoutes } from '../features/attention/routes.ts';
import { boardRoutes } from '../features/board/routes.ts';
import type { CodehostFeed } from '../features/codehost/io/codehost-feed.ts';
import { projectEntry } from '../features/configuration/config-report.ts';
import { reportConfig } from '../features/configuration/io/report.ts';
import { configRoutes } from '../features/configuration/routes.ts';
import { deployRoutes } from '../features/deploy/routes.ts';
import type { createSelfCheck } from '../features/doctor/io/self-check.ts';
import { doctorRoutes } from '../features/doctor/routes.ts';
import { eventRoutes } from '../features/events/routes.ts';
import type { Feeds } from '../features/feeds/io/feeds.ts';
import { feedRoutes } from '../features/feeds/routes.ts';
import type { Figures } from '../features/health/api.ts';
import { judgeSelfCheck } from '../features/health/judge-daemon.ts';
import { healthRoutes } from '../features/health/routes.ts';
import type { Telemetry } from '../features/otel/io/backends.ts';
import { otelRoutes } from '../features/otel/routes.ts';
import type { Rules } from '../features/rules/io/rules-service.ts';
import { rulesRoutes } from '../features/rules/routes.ts';
import { knownAgentRoutes, runRoutes } from '../features/runs/routes.ts';
import type { HookSessions } from '../features/sessions/io/sessions.ts';
import { hookRoutes } from '../features/sessions/routes.ts';
import type { Summaries } from '../features/summaries/io/create-summaries.ts';
import { summaryRoutes } from '../features/summaries/routes.ts';
import { taskRoutes } from '../features/tasks/routes.ts';
import type { Team } from '../features/team/io/team.ts';
import { teamRoutes } from '../features/team/routes.ts';
import { heldBack } from '../features/tickets/held-ticket.ts';
import { causeStands } from '../features/tickets/needs.ts';
import { ticketNamed } from '../features/tickets/subject.ts';
import { trackerRoutes } from '../features/tracker/routes.ts';
import { why } from '../features/why/why.ts';
import type { SignalStore } from '../features/workers/io/signal-store.ts';
import { worktreeRoutes } from '../features/worktrees/routes.ts';
import type { Access } from '../kernel/access/access.ts';
import { inDoctorOrder } from '../kernel/check/finding.ts';
import type { Machine } from '../kernel/config/environment.ts';
import type { LiveConfig } from '../kernel/config/live.ts';
import { Failure } from '../kernel/failure.ts';
import type { OpenedFeature } from '../kernel/feature.ts';
import { serveAccess } from '../kernel/http/access-routes.ts';
import type { ApiAnswer } from '../kernel/http/api-route.ts';
import type { Routes } from '../kernel/http/route.ts';
import type { EventLog } from '../kernel/log/event-log.ts';
import type { JqThreads } from '../kernel/log/jq-threads.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import type { DaemonBoard } from './board.ts';
import type { Effects } from './effects.ts';
import type { Orchestration } from './orchestration.ts';
import type { Workers } from './workers.ts';

/** All checks of `svc doctor`, as `svc doctor --json` prints them. */
export type RunDoctor = Parameters<typeof doctorRoutes>[0]['runDoctor'];

/** A disk that does not answer must not keep the doctor. */
const CATCH_UP_MS = 2_000;

const noDoctor: RunDoctor = () =>
  Promise.reject(
    new Failure('not-in-this-version', 'This daemon cannot run the doctor.', 'Run it yourself: svc doctor'),
  );

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
  sessions: HookSessions;
  /** Features that are opened from the list. */
  opened: readonly OpenedFeature[];
  team: Team;
  rules: () => Rules;
  signals: SignalStore;
  workers: Pick<Workers, 'sync'>;
  summaries: () => Summaries;
  telemetry: Telemetry;
  selfCheck: ReturnType<typeof createSelfCheck>;
  runDoctor: RunDoctor | undefined;
  machine: Machine;
  live: Pick<LiveConfig, 'catchUp' | 'current'>;
  /** A person changed a deploy policy. */
  onPolicyChange: () => void;
  figures: () => Figures;
  /** Names this process among those that serve the same log. */
  instanceId: string;
  version: string;
  now: () => Date;
}): Routes[] {
  const { log, board, feeds, effects, orchestration, signals, summaries, telemetry, machine, live, now } =
    parts;
  const { state, boardAt } = board;
  const { append } = log;
  const nowMs = (): number => now().getTime();
  return [
    healthRoutes(parts),
    eventRoutes({ log, jq: parts.jq, now: nowMs }),
    feedRoutes(feeds),
    boardRoutes({
      state,
      boardAt,
      instanceId: parts.instanceId,
      person: parts.team.person,
      now: nowMs,
    }),
    attentionRoutes({ state, append, causeStands, person: parts.team.person, now: nowMs }),
    teamRoutes({ team: parts.team, state, boardAt, now: nowMs }),
    deployRoutes({ state, append, ticketNamed, why, onPolicyChange: parts.onPolicyChange, now: nowMs }),
    agentRoutes({ state, agents: orchestration.agents, runsDir: machine.runsDir }),
    knownAgentRoutes({ ...orchestration, home: machine.home }),
    hookRoutes({ sessions: parts.sessions, dataDir: machine.dataDir }),
    worktreeRoutes({ state, projects: orchestration.projects }),
    trackerRoutes({ state, heldBack, ...orchestration, report: append, outcomeOf: effects.moveOf }),
    taskRoutes({ state, append: log.appendOnce, ...orchestration, settled: effects.settled, now }),
    runRoutes({ state, append, signals, ...orchestration, sync: parts.workers.sync, now }),
    rulesRoutes({
      list: () => parts.rules().list(),
      test: (...asked) => parts.rules().test(...asked),
      now: nowMs,
    }),
    summaryRoutes(summaries),
    otelRoutes({ backend: telemetry.backend, status: telemetry.status }),
    doctorRoutes({
      async check(by) {
        // What it reports next is of the files as they are now.
        await within(live.catchUp(), CATCH_UP_MS, () => undefined);
        return { findings: inDoctorOrder(judgeSelfCheck(await parts.selfCheck(by))) };
      },
      runDoctor: parts.runDoctor ?? noDoctor,
    }),
    configRoutes({
      projects: () => live.current().projects.map(({ folder, values }) => projectEntry(folder, values)),
      report: (folder, projects) => reportConfig(machine, live.current(), folder, projects),
    }),
    ...parts.opened.flatMap(({ routes }) => routes ?? []),
    serveAccess(parts.access),
  ];
}
