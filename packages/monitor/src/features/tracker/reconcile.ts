// Asks the tracker what changed since the last time, and logs what no delivery has reported. One query, from the time
// of the newest change seen; after a start, that time comes from the log.

import type { EventLine } from '../../kernel/log/event-line.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';
import { topics } from '../topics.ts';
import type { Tracker } from './io/tracker.ts';
import { type PolledIssue, pollDifference } from './polled-issue.ts';

/** How far back the first poll goes, and how far the log's newest tracker line can take it back. */
const FIRST_POLL_MS = 3_600_000;
const FARTHEST_LOOK_MS = 7 * 86_400_000;
const LINES_READ = 20;

const ticketTopics: ReadonlySet<string> = new Set(topics.matching('tracker.issue.*'));

export type TrackerReconciler = {
  /** How many issues changed, and how many of those changes were new. */
  reconcile: () => Promise<{ changed: number; newEvents: number }>;
};

export function createTrackerReconciler(options: {
  client: Pick<Tracker, 'issuesUpdatedSince'>;
  teamId: string;
  /** The tickets that are open as far as we know. */
  openTickets?: () => readonly string[];
  /** Each issue that a poll found changed, also if only its text or a comment was. */
  onChanged?: ((issue: Pick<PolledIssue, 'identifier' | 'updatedAt'>) => void) | undefined;
  log: Pick<EventLog, 'list' | 'appendOnce'>;
  now: () => number;
}): TrackerReconciler {
  const { client, teamId, log, now } = options;
  let cursor: string | undefined;
  return {
    async reconcile() {
      const since = cursor ?? (await beginning(log, now()));
      const found = await client.issuesUpdatedSince(teamId, since, options.openTickets?.() ?? []);
      let newEvents = 0;
      for (const issue of found.issues) {
        const { entries } = await log.list({
          ticket: issue.identifier,
          topics: ticketTopics,
          limit: LINES_READ,
        });
        const draft = pollDifference(issue, knownBy(entries.map(({ line }) => line)), since);
        if (draft === undefined) continue;
        const { duplicate } = await log.appendOnce(draft);
        if (!duplicate) newEvents += 1;
      }
      for (const issue of found.issues) options.onChanged?.(issue);
      cursor = found.cursor;
      return { changed: found.issues.length, newEvents };
    },
  };
}

/** What the lines report together, newest first: one alone need not have every field. */
function knownBy(lines: readonly EventLine[]): Pick<EventLine, 'event' | 'detail'> | undefined {
  const [newest] = lines;
  return (
    newest && {
      event: newest.event,
      detail: Object.assign({}, ...lines.toReversed().map(({ detail }) => detail)),
    }
  );
}

async function beginning(log: Pick<EventLog, 'list'>, now: number): Promise<string> {
  const { entries } = await log.list({ topics: ticketTopics, limit: 1 });
  const newest = entries[0] === undefined ? now - FIRST_POLL_MS : Date.parse(entries[0].line.ts);
  return new Date(Math.max(Math.min(newest, now - FIRST_POLL_MS), now - FARTHEST_LOOK_MS)).toISOString();
}
