// What a daemon reports of its parts while all is well, as far as it is judged.
import type { ReportedFeeds } from 'svc-monitor/src/features/feeds/judge-feeds.ts';
import type { ReportedHealth } from 'svc-monitor/src/features/health/judge-daemon.ts';

const live = { state: 'live' };
const backend = {
  state: 'disabled',
  since: null,
  why: null,
  remedy: null,
  url: null,
  lastAnswerAt: null,
} as const;

export function healthyReport(more: Partial<ReportedHealth> = {}): ReportedHealth {
  return {
    configuration: { problems: [] },
    dataRoot: live,
    log: {
      lastSeq: 5,
      failing: null,
      indexLag: 0,
      indexFailing: null,
      rebuilding: false,
      corruptLines: 0,
      fileChanged: false,
      missing: [],
    },
    clock: live,
    state: live,
    outbox: { ...live, pending: 0, retryingCount: 0, retrying: [], givenUp: 0 },
    signals: { ...live, files: 0, corrupt: 0 },
    runs: live,
    rules: live,
    sessions: live,
    spool: { rejected: 0 },
    feeds: { codehost: { receiver: 'ready' }, tracker: { receiver: 'ready' } },
    telemetry: { metrics: backend, logs: backend },
    ...more,
  };
}

/** Nothing is configured. */
export function feedsOff(more: Partial<ReportedFeeds> = {}): ReportedFeeds {
  return {
    tunnels: [],
    repos: [],
    codehost: {
      state: 'disabled',
      code: null,
      why: 'no repository is watched',
      remedy: null,
      lastAt: null,
      clock: null,
    },
    tracker: { state: 'disabled', why: 'no team', teams: [] },
    ...more,
  };
}
