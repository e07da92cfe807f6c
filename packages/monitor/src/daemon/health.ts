// What works and what does not, for GET /api/health: each part with a state, the reason and the remedy.
import { type ConfigProblem, formatProblem } from '@svc/core';
import type { LogStats } from '../log/event-log.ts';
import type { LogNotice } from '../log/log-notice.ts';
import type { OutboxFigures } from '../outbox/figures.ts';
import type { FeedName } from '../receive/feed.ts';
import type { Outcome } from '../receive/receiver.ts';
import type { FeedSecrets, Secrets } from '../receive/secrets.ts';
import type { FollowerReport } from '../rules/follow-rules.ts';
import type { SignalFigures } from '../runs/watch-signals.ts';
import type { StateProgress } from '../state/state-follower.ts';
import { type Metrics, observe, observeLabelled } from '../telemetry/metrics.ts';

const KEPT_NOTICES = 20;

/** What becomes of the log: the board, the outbox, signal files (null until they are watched), runs and rules. */
type StateFigures = {
  board: () => StateProgress;
  outbox: () => OutboxFigures;
  signals: () => SignalFigures | null;
  runs: () => { agents: number; problem: string | null };
  rules: () => FollowerReport;
};

type FeedFigures = { lastAcceptedAt: number | null; outcomes: Partial<Record<Outcome, number>> };

export function createHealth(options: {
  identity: { instance: string; pid: number; version: string; startedAt: string; port: number; url: string };
  projects: { folders: string[]; problems: ConfigProblem[] };
  secrets: Secrets;
  metrics: Metrics;
  now: () => Date;
}) {
  const { identity, projects, secrets, metrics, now } = options;
  const feeds: Record<FeedName, FeedFigures> = {
    codehost: { lastAcceptedAt: null, outcomes: {} },
    tracker: { lastAcceptedAt: null, outcomes: {} },
  };
  const notices: (LogNotice & { at: string })[] = [];
  let logStats: (() => LogStats) | undefined;
  let feedsReport: (() => object) | undefined;
  let telemetryReport: (() => object) | undefined;
  let spoolRejected = 0;
  let stateFigures: StateFigures | undefined;

  const feedReport = (name: FeedName): object => {
    const { lastAcceptedAt, outcomes } = feeds[name];
    const last = lastAcceptedAt === null ? null : new Date(lastAcceptedAt).toISOString();
    return { ...receiverState(secrets[name]), lastAcceptedAt: last, outcomes };
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

  const report = (): object => {
    const stats = logStats?.();
    const log = stats && logReport(stats, notices);
    const configuration = { folders: projects.folders, problems: projects.problems.map(formatProblem) };
    const work = stateFigures && stateReport(stateFigures);
    const broken =
      projects.problems.some(({ severity }) => severity === 'error') ||
      log?.state !== 'live' ||
      work?.some(({ state }) => state === 'degraded') === true;
    return {
      status: broken ? 'degraded' : 'ok',
      ...identity,
      now: now().toISOString(),
      configuration,
      feeds: { codehost: feedReport('codehost'), tracker: feedReport('tracker') },
      log,
      ...(work && Object.fromEntries(work.map(({ name, ...figures }) => [name, figures]))),
      spool: spoolReport(spoolRejected),
      sources: feedsReport?.(),
      telemetry: telemetryReport?.(),
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
    watchFeeds(read: () => object): void {
      feedsReport = read;
    },
    watchTelemetry(read: () => object): void {
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

function receiverState({ variables, values }: FeedSecrets): object {
  if (values.length > 0) return { receiver: 'ready' };
  const why = `no secret: ${variables.join(' and ')} not set`;
  return {
    receiver: 'disabled',
    why,
    remedy: `Set ${variables.join(' or ')} and run: svc-monitor.sh restart`,
  };
}

function stateReport({ board, outbox, signals, runs, rules }: StateFigures) {
  const { problem, ...conducted } = runs();
  const { problem: rulesProblem, ...followed } = rules();
  const state = board();
  const pending = outbox();
  const files = signals();
  return [
    part('state', state.degraded, 'Free disk space and check the data folder; it goes on by itself.', {
      ...state,
      state: state.ready ? 'live' : 'connecting',
    }),
    part(
      'outbox',
      pending.failing,
      'Free disk space and check the data folder; it goes on by itself.',
      pending,
    ),
    part('signals', files?.problem ?? null, 'Check the folder of runs and its permissions.', files ?? {}),
    part('runs', problem, 'In the project of the run: svc config validate; see: svc monitor logs', conducted),
    part(
      'rules',
      rulesProblem,
      'Free disk space, or mend the filter of the rule (svc rules test), and restart: svc monitor restart',
      followed,
    ),
  ];
}

function part(name: string, why: string | null, remedy: string, figures: object) {
  if (why === null) return { state: 'live', ...figures, name };
  return { ...figures, state: 'degraded', why, remedy, name };
}

function spoolReport(rejected: number): object {
  if (rejected === 0) return { rejected };
  const why = 'helpers left facts that cannot be taken';
  return { rejected, why, remedy: 'Look at the files in the folder spool/rejected of the data root.' };
}

function logReport(stats: LogStats, notices: readonly object[]) {
  const failing = stats.failing ?? stats.indexFailing;
  return {
    state: failing === null ? 'live' : 'degraded',
    ...(failing !== null && {
      why: failing,
      remedy: 'Free disk space and check the data folder; it goes on by itself.',
    }),
    ...stats,
    indexLag: stats.lastSeq - stats.indexedTo,
    notices,
  };
}
