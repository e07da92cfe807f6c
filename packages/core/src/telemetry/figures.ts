// The daemon's own figures as one answer; the same are at /metrics for a metrics backend.

/** Of the newest `of`; null while there are none. `count` is all since the start. */
export type RecentTimes = { count: number; of: number; p50Ms: number | null; p99Ms: number | null };

export type Figures = {
  /** When the daemon started; counts begin there. */
  since: string;
  codehost: {
    calls: number;
    callsInLastHour: number;
    /** How many it allows itself. */
    callsPerHour: number;
    /** Calls that asking for everything every 30 seconds would have made on top. */
    avoided: number;
    /** By resource, as the code host last said. */
    quotas: Record<string, { limit: number; remaining: number; resetsAt: string }>;
    pausedUntil: string | null;
  };
  /** Requests to the tracker, by what for. */
  tracker: { poll: number; move: number };
  /** Accepted deliveries, from the request to the answer that says so. */
  deliveries: RecentTimes;
  /** Group commits of the event log. */
  commits: RecentTimes;
  /** Lines made durable. */
  lines: number;
};
