// Lines of the past: from the daemon's index, or from the files when no daemon runs.
import { type EventLine, matchesFilter } from '@svc/core';
import type { Machine } from '../config/environment.ts';
import { findPositionOfSeq, findPositionOfTime } from '../log/find-position.ts';
import { readEntries } from '../log/read-lines.ts';
import { connectDaemon } from './daemon-client.ts';
import { type Conditions, pointText } from './event-conditions.ts';

export type ListedEvents = { lines: EventLine[]; fromFiles: boolean };

/** The newest lines that meet the conditions, oldest first. */
export async function listEvents(
  machine: Machine,
  conditions: Conditions,
  limit: number,
): Promise<ListedEvents> {
  const daemon = await connectDaemon(machine);
  if (!daemon) return { lines: await newestInFiles(machine, conditions, limit), fromFiles: true };
  const { query, since } = conditions;
  const point = since === undefined ? {} : { since: pointText(since) };
  const answer = await daemon.getJson('/api/events', { ...query, ...point, limit: String(limit) });
  return { lines: (answer as { events: EventLine[] }).events.toReversed(), fromFiles: false };
}

async function newestInFiles(
  machine: Machine,
  { filter, since }: Conditions,
  limit: number,
): Promise<EventLine[]> {
  const folder = machine.eventsDir;
  const from =
    since === undefined
      ? undefined
      : 'seq' in since
        ? findPositionOfSeq(folder, since.seq + 1)
        : findPositionOfTime(folder, since.time);
  const newest: EventLine[] = [];
  for await (const entries of readEntries({ folder, ...(from && { from }) })) {
    newest.push(...entries.map(({ line }) => line).filter((line) => matchesFilter(line, filter)));
    newest.splice(0, newest.length - limit);
  }
  return newest;
}
