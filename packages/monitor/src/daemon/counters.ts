// Counters that run from the first moment of the daemon, before the parts that report them exist.
import { workerStatuses } from '@svc/contract/worker-statuses';
import { observe, observeLabelled, observeTotal } from '@svc/lib/metrics';
import type { BudgetFigures } from '../features/codehost/call-budget.ts';
import type { FeedName } from '../features/feeds/io/feed.ts';
import type { Feeds } from '../features/feeds/io/feeds.ts';
import type { Outcome } from '../features/feeds/io/receiver.ts';
import { feedGrades } from '../features/feeds/topics.ts';
import type { Figures } from '../features/health/api.ts';
import type { Board } from '../kernel/board/board.ts';
import type { LogStats } from '../kernel/log/event-log.ts';
import type { LogNotice } from '../kernel/log/log-notice.ts';
import type { Commit } from '../kernel/log/writer.ts';
import type { OutboxFigures } from '../kernel/outbox/outbox-store.ts';
import { createRecentTimes, type Metrics } from '../kernel/telemetry/metrics.ts';
import type { RecentTimes } from '../kernel/telemetry/recent-times.ts';
import type { DaemonBoard } from './board.ts';

const KEPT_NOTICES = 20;

type FeedCounts = { lastAcceptedAt: number | null; outcomes: Partial<Record<Outcome, number>> };

export type Counters = {
  noteDelivery: (feed: FeedName, outcome: Outcome) => void;
  /** How long an accepted delivery took. */
  noteAccepted: (milliseconds: number) => void;
  noteCommit: (commit: Commit) => void;
  noteLog: (notice: LogNotice) => void;
  noteSpool: (rejected: number) => void;
  feeds: Readonly<Record<FeedName, FeedCounts>>;
  notices: readonly (LogNotice & { at: string })[];
  spoolRejected: () => number;
  deliveries: () => RecentTimes;
  commits: () => RecentTimes;
  lines: () => number;
};

export function createCounters({ metrics, now }: { metrics: Metrics; now: () => Date }): Counters {
  const feeds: Record<FeedName, FeedCounts> = {
    codehost: { lastAcceptedAt: null, outcomes: {} },
    tracker: { lastAcceptedAt: null, outcomes: {} },
  };
  const notices: (LogNotice & { at: string })[] = [];
  const deliveries = createRecentTimes();
  const commits = createRecentTimes();
  let spoolRejected = 0;
  let durableLines = 0;
  return {
    noteDelivery(feed, outcome) {
      const counts = feeds[feed];
      counts.outcomes[outcome] = (counts.outcomes[outcome] ?? 0) + 1;
      metrics.deliveries.add({ feed, outcome });
      if (outcome === 'accepted') counts.lastAcceptedAt = now().getTime();
    },
    noteAccepted: (milliseconds) => deliveries.note(milliseconds),
    noteCommit({ lines, milliseconds }) {
      commits.note(milliseconds);
      durableLines += lines;
      metrics.commitSeconds.observe(milliseconds / 1000);
      metrics.lines.inc(lines);
    },
    noteLog(notice) {
      notices.push({ ...notice, at: now().toISOString() });
      if (notices.length > KEPT_NOTICES) notices.shift();
    },
    noteSpool(rejected) {
      spoolRejected += rejected;
    },
    feeds,
    notices,
    spoolRejected: () => spoolRejected,
    deliveries: () => deliveries.figures(),
    commits: () => commits.figures(),
    lines: () => durableLines,
  };
}

// The daemon's figures: at `GET /api/figures`, and at /metrics. Computed on each request, stored nowhere.

export function createFigures(sources: {
  startedAt: string;
  codehost: () => BudgetFigures;
  meter: () => { avoided: number };
  trackerCalls: () => { poll: number; move: number };
  counters: Pick<Counters, 'deliveries' | 'commits' | 'lines'>;
}): () => Figures {
  const { counters } = sources;
  return () => {
    const { calls, callsInLastHour, callsPerHour, quotas, pausedUntil } = sources.codehost();
    return {
      since: sources.startedAt,
      codehost: {
        calls,
        callsInLastHour,
        callsPerHour,
        avoided: sources.meter().avoided,
        quotas: Object.fromEntries(
          Object.entries(quotas).map(([resource, { limit, remaining, resetAt }]) => [
            resource,
            { limit, remaining, resetsAt: new Date(resetAt).toISOString() },
          ]),
        ),
        pausedUntil,
      },
      tracker: sources.trackerCalls(),
      deliveries: counters.deliveries(),
      commits: counters.commits(),
      lines: counters.lines(),
    };
  };
}

type StateSources = {
  counters: Pick<Counters, 'feeds'>;
  log: () => LogStats;
  state: DaemonBoard;
  outbox: () => OutboxFigures;
  tunnels: () => ReturnType<Feeds['report']>['tunnels'];
  codehost: () => BudgetFigures;
  /** Requests to the tracker since the start, by purpose. */
  trackerCalls: () => { poll: number; move: number };
  version: string;
  startedAt: string;
};

export function exposeMetrics(metrics: Metrics, sources: StateSources): void {
  const { tunnels, version } = sources;
  observeLabelled(metrics, 'svc_build_info', 'The running version', ['version'], () => [[{ version }, 1]]);
  observe(metrics, 'svc_start_timestamp_seconds', 'When the daemon started', () => {
    return Date.parse(sources.startedAt) / 1000;
  });
  exposeDeliveries(metrics, sources.counters);
  exposeLog(metrics, sources.log);
  exposeFolding(metrics, sources.state);
  exposeBoard(metrics, sources.state.state.board);
  exposeOutbox(metrics, sources.outbox);
  observeLabelled(
    metrics,
    'svc_feed_grade',
    'Grade of a feed: 1 for its current grade, 0 for the others',
    ['feed', 'grade'],
    () =>
      tunnels().flatMap(({ feeds, grade: has }) =>
        feeds.flatMap((feed) => feedGrades.map((grade) => [{ feed, grade }, has === grade ? 1 : 0] as const)),
      ),
  );
  observeTotal(metrics, 'svc_tunnel_reconnects_total', 'Reconnections to the relay', ['feed'], () =>
    tunnels().flatMap(({ feeds, reconnects }) => feeds.map((feed) => [{ feed }, reconnects] as const)),
  );
  exposeCalls(metrics, sources);
}

function exposeDeliveries(metrics: Metrics, { feeds }: Pick<Counters, 'feeds'>): void {
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
}

function exposeLog(metrics: Metrics, stats: () => LogStats): void {
  observe(metrics, 'svc_log_queue_depth', 'Lines waiting for the disk', () => stats().queued);
  observe(metrics, 'svc_log_index_lag_lines', 'Durable lines that are not indexed yet', () => {
    const { lastSeq, indexedTo } = stats();
    return lastSeq - indexedTo;
  });
  observe(metrics, 'svc_log_last_seq', 'Seq of the last durable line', () => stats().lastSeq);
  observe(metrics, 'svc_log_corrupt_lines', 'Lines that could not be read', () => stats().corruptLines);
  observe(
    metrics,
    'svc_log_tail_readers',
    'Live readers of the log, including the index',
    () => stats().tailReaders,
  );
}

function exposeFolding(metrics: Metrics, { figures }: DaemonBoard): void {
  observe(metrics, 'svc_state_lag_lines', 'Durable lines that are not folded into the board yet', () => {
    const { seq, logSeq } = figures();
    return logSeq - seq;
  });
  observe(metrics, 'svc_snapshots', 'Snapshots of the state', () => figures().snapshots.count);
  observe(metrics, 'svc_snapshots_bytes', 'Size of the snapshots', () => figures().snapshots.bytes);
}

function exposeOutbox(metrics: Metrics, outbox: () => OutboxFigures): void {
  observe(metrics, 'svc_outbox_pending', 'Effects that are pending', () => outbox().pending);
  observe(metrics, 'svc_outbox_given_up', 'Effects that were given up', () => outbox().givenUp);
  observe(
    metrics,
    'svc_outbox_oldest_pending_seconds',
    'Age of the oldest pending effect',
    () => (outbox().oldestPendingMs ?? 0) / 1000,
  );
}

function exposeBoard(metrics: Metrics, board: () => Board): void {
  observeLabelled(metrics, 'svc_workers', 'Tickets of all runs by status', ['status'], () => {
    const counts = countBy(board().workers.values(), ({ status }) => status);
    return workerStatuses.map((status) => [{ status }, counts.get(status) ?? 0] as const);
  });
  observeLabelled(
    metrics,
    'svc_attention_open',
    'Open attention items by severity and reason',
    ['severity', 'reason'],
    () =>
      [...Map.groupBy(board().attention.values(), ({ severity, reason }) => `${severity}\n${reason}`)].map(
        ([key, items]) => {
          const [severity = '', reason = ''] = key.split('\n');
          return [{ severity, reason }, items.length] as const;
        },
      ),
  );
  observe(metrics, 'svc_pull_requests_open', 'Open pull requests', () => {
    return countBy(board().pullRequests.values(), ({ state }) => state).get('open') ?? 0;
  });
  observeLabelled(metrics, 'svc_runs', 'Runs by state', ['state'], () => {
    const counts = countBy(board().runs.values(), ({ state }) => state);
    return (['running', 'paused', 'completed', 'canceled', 'unknown'] as const).map(
      (state) => [{ state }, counts.get(state) ?? 0] as const,
    );
  });
}

function exposeCalls(metrics: Metrics, { codehost, trackerCalls }: StateSources): void {
  observeTotal(metrics, 'svc_codehost_calls_total', 'Calls to the code host', [], () => [
    [{}, codehost().calls],
  ]);
  observe(metrics, 'svc_codehost_calls_last_hour', 'Calls to the code host in the last hour', () => {
    return codehost().callsInLastHour;
  });
  observeLabelled(
    metrics,
    'svc_codehost_quota_remaining',
    "Calls left in the code host's quota, by resource",
    ['resource'],
    () =>
      Object.entries(codehost().quotas).map(
        ([resource, { remaining }]) => [{ resource }, remaining] as const,
      ),
  );
  observeTotal(metrics, 'svc_tracker_calls_total', 'Requests to the tracker', ['purpose'], () => {
    const { poll, move } = trackerCalls();
    return [
      [{ purpose: 'poll' }, poll],
      [{ purpose: 'move' }, move],
    ];
  });
}

function countBy<Item>(items: Iterable<Item>, name: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(name(item), (counts.get(name(item)) ?? 0) + 1);
  return counts;
}
