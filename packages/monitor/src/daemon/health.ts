// What works and what does not, for GET /api/health: each part with a state, the reason and the remedy.
import {
  type ApiAnswer,
  type api,
  type ConfigProblem,
  type FeedSecrets,
  FILE_CHANGED,
  FILE_CHANGED_REMEDY,
  lateLines,
  MISSING_REMEDY,
  missingWords,
  reportProblem,
  secretProblem,
} from '@svc/core';
import type { LogStats } from '../log/event-log.ts';
import type { LogNotice } from '../log/log-notice.ts';
import type { OutboxFigures } from '../outbox/figures.ts';
import type { FeedName } from '../receive/feed.ts';
import type { Outcome } from '../receive/receiver.ts';
import type { Secrets } from '../receive/secrets.ts';
import type { FollowerReport } from '../rules/follow-rules.ts';
import type { SignalFigures } from '../runs/watch-signals.ts';
import { type Metrics, observe, observeLabelled } from '../telemetry/metrics.ts';
import type { DaemonBoard } from './board.ts';

const KEPT_NOTICES = 20;
const RESTART = 'Run: svc monitor restart. Then put back what is missing from a copy (docs/moving.md)';
const FREE_DISK = 'Free disk space and check the data folder; it goes on by itself.';

/** What becomes of the log: the board, the outbox, signal files (null until they are watched), runs and rules. */
type StateFigures = {
  board: DaemonBoard['figures'];
  outbox: () => OutboxFigures;
  signals: () => SignalFigures | null;
  runs: () => { agents: number; problem: string | null };
  rules: () => FollowerReport;
};

type Health = ApiAnswer<typeof api.getHealth>;

type FeedFigures = { lastAcceptedAt: number | null; outcomes: Partial<Record<Outcome, number>> };

export function createHealth(options: {
  identity: { instance: string; pid: number; version: string; startedAt: string; port: number; url: string };
  projects: () => { folders: string[]; problems: ConfigProblem[] };
  /** Filters of rules that jq does not take. */
  ruleProblems: () => readonly ConfigProblem[];
  secrets: () => Secrets;
  dataRootTrouble: () => string | null;
  access: () => Health['access'];
  metrics: Metrics;
  now: () => Date;
}) {
  const { identity, metrics, now } = options;
  const feeds: Record<FeedName, FeedFigures> = {
    codehost: { lastAcceptedAt: null, outcomes: {} },
    tracker: { lastAcceptedAt: null, outcomes: {} },
  };
  const notices: (LogNotice & { at: string })[] = [];
  let logStats: (() => LogStats) | undefined;
  let feedsReport: (() => NonNullable<Health['sources']>) | undefined;
  let telemetryReport: (() => NonNullable<Health['telemetry']>) | undefined;
  let spoolRejected = 0;
  let stateFigures: StateFigures | undefined;

  const feedReport = (name: FeedName): Health['feeds'][FeedName] => {
    const { lastAcceptedAt, outcomes } = feeds[name];
    const last = lastAcceptedAt === null ? null : new Date(lastAcceptedAt).toISOString();
    return { ...receiverState(name, options.secrets()[name]), lastAcceptedAt: last, outcomes };
  };
  observeLabelled(
    metrics,
    'svc_last_delivery_timestamp_seconds',
    'When the last delivery of a feed was accepted',
    ['feed'],
    () =>
      (['codehost', 'tracker'] as const).flatMap((feed) => {
        const { lastAcceptedAt } = feeds[feed];
        return lastAcceptedAt === null ? [] : [[{ feed }, lastAcceptedAt / 1000] as const];
      }),
  );

  const report = (): Health => {
    const stats = logStats?.();
    const log = stats && logReport(stats, notices);
    const dataRoot = standing(options.dataRootTrouble(), RESTART);
    const clock = stats && clockReport(stats.clockBehindMs, now().getTime());
    const { folders, problems: found } = options.projects();
    const problems = [...found, ...options.ruleProblems()];
    const configuration = { folders, problems: problems.map(reportProblem) };
    const receivers = { codehost: feedReport('codehost'), tracker: feedReport('tracker') };
    const work = stateFigures && stateReport(stateFigures);
    const broken =
      problems.some(({ severity }) => severity === 'error') ||
      dataRoot.state !== 'live' ||
      log?.state !== 'live' ||
      clock?.state !== 'live' ||
      Object.values(receivers).some(({ receiver }) => receiver === 'degraded') ||
      Object.values(work ?? {}).some(({ state }) => state === 'degraded');
    return {
      status: broken ? 'degraded' : 'ok',
      ...identity,
      now: now().toISOString(),
      configuration,
      access: options.access(),
      feeds: receivers,
      dataRoot,
      ...(log && { log }),
      ...(clock && { clock }),
      ...work,
      spool: spoolReport(spoolRejected),
      ...(feedsReport && { sources: feedsReport() }),
      ...(telemetryReport && { telemetry: telemetryReport() }),
    };
  };

  return {
    report,
    noteDelivery(feed: FeedName, outcome: Outcome): void {
      const figures = feeds[feed];
      figures.outcomes[outcome] = (figures.outcomes[outcome] ?? 0) + 1;
      metrics.deliveries.add({ feed, outcome });
      if (outcome === 'accepted') figures.lastAcceptedAt = now().getTime();
    },
    noteLog(notice: LogNotice): void {
      notices.push({ ...notice, at: now().toISOString() });
      if (notices.length > KEPT_NOTICES) notices.shift();
    },
    noteSpool(rejected: number): void {
      spoolRejected += rejected;
    },
    watchState(figures: StateFigures): void {
      stateFigures = figures;
      const { board, outbox } = figures;
      observe(metrics, 'svc_state_lag_lines', 'Durable lines that the board has not folded', () => {
        const { seq, of } = board();
        return of - seq;
      });
      observe(
        metrics,
        'svc_outbox_pending',
        'Effects that are still to be carried out',
        () => outbox().pending,
      );
      observe(metrics, 'svc_outbox_given_up', 'Effects that were given up', () => outbox().givenUp);
    },
    watchFeeds(read: () => NonNullable<Health['sources']>): void {
      feedsReport = read;
    },
    watchTelemetry(read: () => NonNullable<Health['telemetry']>): void {
      telemetryReport = read;
    },
    watchLog(stats: () => LogStats): void {
      logStats = stats;
      observe(metrics, 'svc_log_queue_depth', 'Lines waiting for the disk', () => stats().queued);
      observe(metrics, 'svc_log_index_lag_lines', 'Durable lines that the index has not seen', () => {
        const { lastSeq, indexedTo } = stats();
        return lastSeq - indexedTo;
      });
      observe(metrics, 'svc_log_last_seq', 'Seq of the last durable line', () => stats().lastSeq);
      observe(metrics, 'svc_log_corrupt_lines', 'Lines that could not be read', () => stats().corruptLines);
      observe(
        metrics,
        'svc_log_tail_readers',
        'Live readers of the log, the index among them',
        () => stats().tailReaders,
      );
    },
  };
}

function receiverState(feed: FeedName, secrets: FeedSecrets) {
  const problem = secretProblem(feed, secrets);
  if (problem === undefined) return { receiver: 'ready' as const };
  const isSet = (secrets.short ?? []).length > 0;
  return { receiver: isSet ? ('degraded' as const) : ('disabled' as const), ...problem };
}

function stateReport({ board, outbox, signals, runs, rules }: StateFigures) {
  const { problem, ...conducted } = runs();
  const { problem: rulesProblem, ...followed } = rules();
  const state = board();
  const pending = outbox();
  const files = signals();
  return {
    state: {
      ...state,
      ...(state.degraded === null && !state.ready
        ? { state: 'connecting' as const }
        : standing(state.degraded, FREE_DISK)),
    },
    outbox: { ...pending, ...standing(pending.failing, FREE_DISK) },
    signals: {
      ...files,
      ...standing(files?.problem ?? null, 'Check the folder of runs and its permissions.'),
    },
    runs: {
      ...conducted,
      ...standing(problem, 'In the project of the run: svc config validate; see: svc monitor logs'),
    },
    rules: {
      ...followed,
      ...standing(
        rulesProblem,
        'Fix the filter of the rule (svc rules test), or free disk space and run: svc monitor restart',
      ),
    },
  };
}

function standing(why: string | null, remedy: string) {
  return why === null ? { state: 'live' as const } : { state: 'degraded' as const, why, remedy };
}

function spoolReport(rejected: number): Health['spool'] {
  if (rejected === 0) return { rejected };
  const why = 'helpers left facts that cannot be taken';
  return { rejected, why, remedy: 'Look at the files in the folder spool/rejected of the data root.' };
}

function clockReport(behindMs: number, now: number) {
  const late = lateLines(behindMs, now);
  return { ...standing(late?.why ?? null, late?.remedy ?? ''), lateUntil: late?.until ?? null };
}

function logReport(stats: LogStats, notices: NonNullable<Health['log']>['notices']) {
  const failing = stats.failing ?? stats.indexFailing;
  const missing = missingWords(stats.missing) ?? null;
  const changed = stats.fileChanged ? FILE_CHANGED : null;
  const remedy = failing !== null ? FREE_DISK : missing !== null ? MISSING_REMEDY : FILE_CHANGED_REMEDY;
  return {
    ...standing(failing ?? missing ?? changed, remedy),
    ...stats,
    indexLag: stats.lastSeq - stats.indexedTo,
    notices,
  };
}
