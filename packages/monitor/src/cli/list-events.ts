// Lines of the past: from the daemon's index, or from the files when no daemon runs.
import { type EventLine, matchesFilter } from '@svc/core';
import type { Machine } from '../config/environment.ts';
import { findPositionOfSeq, findPositionOfTime } from '../log/find-position.ts';
import { createJqFilter } from '../log/jq-filter.ts';
import { readEntries } from '../log/read-lines.ts';
import { connectDaemon } from './daemon-client.ts';
import { type Conditions, pointText } from './event-conditions.ts';

export type ListedEvents = { lines: EventLine[]; fromFiles: boolean };

/** The newest lines that meet the conditions, and for which a jq filter is true; oldest first. */
export async function listEvents(
  machine: Machine,
  conditions: Conditions,
  limit: number,
  jq?: string,
): Promise<ListedEvents> {
  const daemon = await connectDaemon(machine);
  if (!daemon) return { lines: await newestInFiles(machine, conditions, limit, jq), fromFiles: true };
  const { query, since } = conditions;
  const asked = { ...query, since: since && pointText(since), filter: jq };
  const lines: EventLine[] = [];
  let until: string | undefined;
  for (;;) {
    const answer = await daemon.get('/api/events', {
      query: { ...asked, until, limit: limit - lines.length },
    });
    lines.push(...answer.events);
    // A filter that wants little gives short pages, and so do long lines.
    if (answer.next === null || lines.length >= limit) break;
    until = String(answer.next);
  }
  return { lines: lines.toReversed(), fromFiles: false };
}

async function newestInFiles(
  machine: Machine,
  { filter, since }: Conditions,
  limit: number,
  jq: string | undefined,
): Promise<EventLine[]> {
  const matches = jq === undefined ? undefined : await createJqFilter(jq);
  const folder = machine.eventsDir;
  const from =
    since === undefined
      ? undefined
      : 'seq' in since
        ? findPositionOfSeq(folder, since.seq + 1)
        : findPositionOfTime(folder, since.time);
  const newest: EventLine[] = [];
  for await (const entries of readEntries({ folder, ...(from && { from }) })) {
    const plain = entries.filter(({ line }) => matchesFilter(line, filter));
    const answers = matches?.(plain.map(({ text }) => text));
    const wanted = answers === undefined ? plain : plain.filter((_, index) => answers[index]);
    newest.push(...wanted.map(({ line }) => line));
    newest.splice(0, newest.length - limit);
  }
  return newest;
}
