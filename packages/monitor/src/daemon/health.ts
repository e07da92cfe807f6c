// The report of GET /api/health: each part with a state, the reason and the remedy.
import { type FeedSecrets, secretProblem } from '../features/feeds/delivery.ts';
import type { FeedName, Secrets } from '../features/feeds/io/feed.ts';
import { judgeFeeds } from '../features/feeds/judge-feeds.ts';
import type { Health } from '../features/health/api.ts';
import { judgeHealth } from '../features/health/judge-daemon.ts';
import type { Rules } from '../features/rules/io/rules-service.ts';
import type { Orchestrator } from '../features/runs/io/orchestrator.ts';
import type { HookSessions } from '../features/sessions/io/sessions.ts';
import type { Team } from '../features/team/io/team.ts';
import type { SignalFigures } from '../features/workers/io/watch-signals.ts';
import { inDoctorOrder } from '../kernel/check/finding.ts';
import { type ConfigProblem, reportProblem } from '../kernel/config/problems.ts';
import { lateLines } from '../kernel/log/clock.ts';
import type { LogStats } from '../kernel/log/event-log.ts';
import {
  FILE_CHANGED,
  FILE_CHANGED_REMEDY,
  MISSING_REMEDY,
  missingText,
} from '../kernel/log/missing-lines.ts';
import type { OutboxFigures } from '../kernel/outbox/outbox-store.ts';
import type { DaemonBoard } from './board.ts';
import type { Counters } from './counters.ts';

const RESTART = 'Run: svc monitor restart. Then restore what is missing from a backup (docs/guide/data.md)';
const INDEX_REMEDY =
  'Free disk space; it continues by itself. If the database is damaged, run: svc monitor restart. It is then built again from the event log.';
const FREE_DISK = 'Free disk space and check the data folder; it continues by itself.';

/** Built last, from finished parts. Signal files are null until they are watched. */
type HealthParts = {
  identity: { instance: string; pid: number; version: string; startedAt: string; port: number; url: string };
  filesChecked: () => boolean;
  projects: () => { folders: string[]; problems: ConfigProblem[] };
  secrets: () => Secrets;
  dataRootTrouble: () => string | null;
  /** Why files cannot be created soon on the disk of the data root. */
  files: () => { what: string; remedy: string } | null;
  access: () => Health['access'];
  counters: Counters;
  log: () => LogStats;
  board: DaemonBoard['figures'];
  outbox: () => OutboxFigures;
  signals: () => SignalFigures | null;
  runs: Pick<Orchestrator, 'running' | 'problem'>;
  rules: () => Pick<Rules, 'problems' | 'report'>;
  sessions: Pick<HookSessions, 'problem'>;
  team: Team['health'];
  feeds: () => Health['sources'];
  telemetry: () => Health['telemetry'];
  now: () => Date;
};

export function createHealth(parts: HealthParts): () => Health {
  const { counters, now } = parts;

  const feedReport = (name: FeedName): Health['feeds'][FeedName] => {
    const { lastAcceptedAt, outcomes } = counters.feeds[name];
    const last = lastAcceptedAt === null ? null : new Date(lastAcceptedAt).toISOString();
    return { ...receiverState(name, parts.secrets()[name]), lastAcceptedAt: last, outcomes };
  };

  return () => {
    const stats = parts.log();
    const log = logReport(stats, [...counters.notices]);
    const files = parts.files();
    const dataRoot =
      files === null ? standing(parts.dataRootTrouble(), RESTART) : standing(files.what, files.remedy);
    const clock = clockReport(stats.clockBehindMs, now().getTime());
    const { folders, problems: found } = parts.projects();
    const problems = [...found, ...parts.rules().problems];
    const receivers = { codehost: feedReport('codehost'), tracker: feedReport('tracker') };
    const team = teamReport(parts.team());
    const report = {
      ...parts.identity,
      filesChecked: parts.filesChecked(),
      now: now().toISOString(),
      configuration: { folders, problems: problems.map(reportProblem) },
      access: parts.access(),
      feeds: receivers,
      dataRoot,
      log,
      clock,
      ...workReport(parts),
      spool: spoolReport(counters.spoolRejected()),
      ...(team !== undefined && { team }),
      sources: parts.feeds(),
      telemetry: parts.telemetry(),
    };
    const own = judgeHealth(report);
    return {
      // A feed that brings nothing is no fault of the daemon.
      status: own.some(({ grade }) => grade === 'broken') ? 'degraded' : 'ok',
      findings: inDoctorOrder([...own, ...judgeFeeds(report.sources)]),
      ...report,
    };
  };
}

function receiverState(feed: FeedName, secrets: FeedSecrets) {
  const problem = secretProblem(feed, secrets);
  if (problem === undefined) return { receiver: 'ready' as const };
  const isSet = (secrets.short ?? []).length > 0;
  return { receiver: isSet ? ('degraded' as const) : ('disabled' as const), ...problem };
}

/** Everything that processes lines: the board, the outbox, signal files, runs, rules and sessions. */
function workReport({ board, outbox, signals, runs, rules, sessions }: HealthParts) {
  const { problem: rulesProblem, ...followed } = rules().report();
  const state = board();
  const pending = outbox();
  const watched = signals();
  const { remedy: signalsRemedy = '', ...files } = watched ?? {};
  return {
    state: {
      ...state,
      ...(state.degraded === null && !state.ready
        ? { state: 'connecting' as const }
        : standing(state.degraded, FREE_DISK)),
    },
    outbox: { ...pending, ...standing(pending.failing, INDEX_REMEDY) },
    signals: {
      ...files,
      ...standing(watched?.problem ?? null, signalsRemedy),
    },
    runs: {
      agents: runs.running(),
      ...standing(runs.problem(), 'In the project of the run: svc config validate; see: svc monitor logs'),
    },
    rules: {
      ...followed,
      ...standing(
        rulesProblem,
        'Fix the filter of the rule (svc rules test), or free disk space and run: svc monitor restart',
      ),
    },
    sessions: standing(
      sessions.problem(),
      'It is tried again every second. If it stays, see: svc monitor logs; then run: svc monitor restart',
    ),
  };
}

function teamReport(team: ReturnType<Team['health']>): Health['team'] {
  if (team === undefined) return undefined;
  const { why, remedy, isConnecting, ...figures } = team;
  return { ...figures, ...(why === null && isConnecting ? { state: 'connecting' } : standing(why, remedy)) };
}

function standing(why: string | null, remedy: string) {
  return why === null ? { state: 'live' as const } : { state: 'degraded' as const, why, remedy };
}

function spoolReport(rejected: number): Health['spool'] {
  if (rejected === 0) return { rejected };
  const why = 'the spool received events that are not valid';
  return { rejected, why, remedy: 'Inspect the files in spool/rejected below the data root.' };
}

function clockReport(behindMs: number, now: number) {
  const late = lateLines(behindMs, now);
  return { ...standing(late?.why ?? null, late?.remedy ?? ''), lateUntil: late?.until ?? null };
}

function logReport(stats: LogStats, notices: Health['log']['notices']) {
  const failing = stats.failing ?? stats.indexFailing;
  const missing = missingText(stats.missing) ?? null;
  const changed = stats.fileChanged ? FILE_CHANGED : null;
  const ofLog = stats.failing === null ? INDEX_REMEDY : FREE_DISK;
  const remedy = failing !== null ? ofLog : missing !== null ? MISSING_REMEDY : FILE_CHANGED_REMEDY;
  return {
    ...standing(failing ?? missing ?? changed, remedy),
    ...stats,
    indexLag: stats.lastSeq - stats.indexedTo,
    notices,
  };
}
