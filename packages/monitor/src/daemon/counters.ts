// Counters that run from the first moment of the daemon, before the parts that report them exist.
import type { RecentTimes } from '@svc/core';
import type { LogNotice } from '../log/log-notice.ts';
import type { Commit } from '../log/writer.ts';
import type { FeedName } from '../receive/feed.ts';
import type { Outcome } from '../receive/receiver.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createRecentTimes } from '../telemetry/recent-times.ts';

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
