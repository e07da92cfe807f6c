// The event log for verbs and MCP tools: shared conditions, past events, and new events as they arrive. Past events come
// from the daemon's index, or from the files when no daemon runs. Watching has two modes:
// - streaming: the daemon runs and sends matching events. Left when the stream ends or falls silent.
// - following: no daemon runs; the files are read as they grow. Left when a daemon answers again.
// The seq of the last event is passed from one mode to the other: no event is missed or seen twice.
// A strict wait ends when its event cannot arrive.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from '@commander-js/extra-typings';
import { systemErrorCode } from '@svc/lib/errors';
import { pause } from '@svc/lib/timeout';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { connectDaemon, type DaemonClient } from '../../../cli/kit/daemon-client.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { Failure } from '../../../kernel/failure.ts';
import {
  type EventFilter,
  matchesFilter,
  parseSince,
  type Since,
  topicsOfGlob,
} from '../../../kernel/log/event-filter.ts';
import { EventLine } from '../../../kernel/log/event-line.ts';
import { findPositionOfSeq, findPositionOfTime } from '../../../kernel/log/find-position.ts';
import { followLog } from '../../../kernel/log/follow.ts';
import { createJqFilter } from '../../../kernel/log/jq-filter.ts';
import { readEntries } from '../../../kernel/log/read-lines.ts';
import { topics } from '../../topics.ts';
import { arrivalObstacle } from '../event-arrival.ts';

type ConditionOptions = {
  event?: string;
  ticket?: string;
  repo?: string;
  pr?: string;
  since?: string;
};

type ConditionQuery = { event?: string; ticket?: string; repo?: string; pr?: string };

export type Conditions = {
  filter: EventFilter;
  since: Since | undefined;
  /** The same as a query of the daemon's routes. */
  query: ConditionQuery;
};

export function conditionOptions(): Option[] {
  return [
    new Option('--event <glob>', 'topic; * matches anything: codehost.pr.*'),
    new Option('--ticket <id>', 'events of this ticket'),
    new Option('--repo <owner/repo>', 'events of this repository'),
    new Option('--pr <number>', 'events of this pull request'),
    new Option('--since <point>', 'start after a seq, or at an ISO time or age like 15m'),
  ];
}

/** Picks the options of `conditionOptions` from all options of a verb. */
export function readConditions(given: object, now: number): Conditions {
  const options: ConditionOptions = given;
  const query: ConditionQuery = {};
  const filter: EventFilter = {};
  if (options.event !== undefined) {
    const answer = topicsOfGlob(topics, options.event);
    if (!answer.ok) throw new Failure('usage', answer.message);
    filter.topics = answer.topics;
    query.event = options.event;
  }
  if (options.ticket !== undefined) query.ticket = filter.ticket = options.ticket.toUpperCase();
  if (options.repo !== undefined) query.repo = filter.repo = options.repo;
  if (options.pr !== undefined) {
    filter.pr = Number(options.pr);
    if (!/^[1-9]\d{0,8}$/.test(options.pr))
      throw new Failure('usage', `--pr: expected a number, found ${options.pr}.`);
    query.pr = options.pr;
  }
  const since = options.since === undefined ? undefined : parseSince(options.since, now);
  if (options.since !== undefined && since === undefined) {
    throw new Failure(
      'usage',
      `--since: expected a seq, an ISO time or a duration like 15m, found ${options.since}.`,
    );
  }
  return { filter, since, query };
}

/** The point as a query parameter. */
export function pointText(since: Since): string {
  return 'seq' in since ? String(since.seq) : new Date(since.time).toISOString();
}

export type ListedEvents = { lines: EventLine[]; fromFiles: boolean };

/** The newest events that meet the conditions and the jq filter; oldest first. */
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
    // A filter that matches little gives short pages, and so do long lines.
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
  const matches = jq === undefined ? undefined : await createJqFilter(topics, jq);
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

/** Three missed keep-alives: the daemon is stuck. */
const SILENCE_MS = 45_000;
const CHECK_DAEMON_MS = 1_000;

/** The first frame of a stream: events after this seq follow. */
const Ready = z.object({ after: z.int() });

export type WatchedLine = { seq: number; text: string };

export function lineOf({ text }: WatchedLine): EventLine {
  return EventLine.parse(JSON.parse(text));
}

/** Batches of matching events, in order; ends when the signal aborts. */
export async function* watchEvents(
  machine: Machine,
  conditions: Conditions,
  signal: AbortSignal,
  now: () => Date,
): AsyncGenerator<WatchedLine[]> {
  const cursor: Cursor = { since: conditions.since };
  while (!signal.aborted) {
    const daemon = await connectDaemon(machine);
    if (daemon) yield* streaming(daemon, conditions, cursor, signal);
    else {
      // Fixed before the first read: events written while a daemon starts are seen in either mode.
      cursor.since ??= { time: now().getTime() };
      yield* following(machine, conditions, cursor, signal);
    }
    if (!signal.aborted) await sleep(50);
  }
}

/** Where to continue: the given condition at first, then the last event seen. */
type Cursor = { since: Conditions['since'] };

async function* streaming(daemon: DaemonClient, { query }: Conditions, cursor: Cursor, signal: AbortSignal) {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  const since = cursor.since === undefined ? {} : { since: pointText(cursor.since) };
  let watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  const onData = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    const parameters = new URLSearchParams({ ...query, ...since }).toString();
    for await (const frames of openStream(daemon, `/api/events/stream?${parameters}`, ended, onData)) {
      const lines: WatchedLine[] = [];
      for (const { event, id, data } of frames) {
        if (event === 'ready') cursor.since ??= { seq: Ready.parse(JSON.parse(data)).after };
        if (event === undefined && id !== undefined) lines.push({ seq: Number(id), text: data });
      }
      const last = lines.at(-1);
      if (last === undefined) continue;
      cursor.since = { seq: last.seq };
      yield lines;
    }
  } catch (error) {
    // The daemon went away, or the wait is over: the caller checks for the daemon again.
    if (!ended.aborted && systemErrorCode(error) === undefined) throw error;
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

/** The frames of each chunk. node:http, because loading `fetch` takes longer than everything else here. */
async function* openStream(
  { url, headers }: DaemonClient,
  path: string,
  signal: AbortSignal,
  onData: () => void,
): AsyncGenerator<EventSourceMessage[]> {
  const request = get(url + path, { headers, signal });
  // Errors are thrown below, also for a signal that was already aborted; the request repeats them.
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
  if (response.statusCode !== 200) return void response.destroy();
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame), onComment: onData });
  response.setEncoding('utf8');
  for await (const text of response as AsyncIterable<string>) {
    onData();
    parser.feed(text);
    if (frames.length > 0) yield frames.splice(0);
  }
}

async function* following(machine: Machine, { filter }: Conditions, cursor: Cursor, signal: AbortSignal) {
  const found = new AbortController();
  const ended = AbortSignal.any([signal, found.signal]);
  const daemonCheck = setInterval(() => {
    connectDaemon(machine).then(
      (daemon) => daemon && found.abort(),
      () => undefined,
    );
  }, CHECK_DAEMON_MS);
  try {
    for await (const entries of followLog({
      folder: machine.eventsDir,
      from: cursor.since ?? 'end',
      signal: ended,
    })) {
      const last = entries.at(-1);
      if (last) cursor.since = { seq: last.line.seq };
      const wanted = entries.filter(({ line }) => matchesFilter(line, filter));
      if (wanted.length > 0) yield wanted.map(({ line, text }) => ({ seq: line.seq, text }));
    }
  } finally {
    clearInterval(daemonCheck);
  }
}

const CHECK_FEEDS_MS = 5_000;

/** Why an event that meets the conditions cannot arrive now; undefined when it can. */
export async function findObstacle(
  machine: Machine,
  { query }: Pick<Conditions, 'query'>,
): Promise<Failure | undefined> {
  const daemon = await connectDaemon(machine);
  if (daemon === undefined)
    return new Failure('feed-blind', 'The daemon is not running.', 'Start it: svc monitor start');
  const awaited = { topics: topics.matching(query.event ?? '*'), repo: query.repo };
  const obstacle = arrivalObstacle(await daemon.get('/api/feeds'), awaited);
  if (obstacle === undefined) return undefined;
  return new Failure('feed-blind', `${obstacle.why}.`, obstacle.remedy ?? 'Find out why: svc feeds');
}

const MOST_PAST = 1_000;

/** The first event since the start of the wait that the log has already; it counts, even if no more can arrive. */
export async function pastMatch(
  machine: Machine,
  conditions: Conditions,
  jq: string | undefined,
): Promise<WatchedLine | undefined> {
  if (conditions.since === undefined) return undefined;
  const { lines } = await listEvents(machine, conditions, MOST_PAST, jq);
  const [line] = lines;
  return line && { seq: line.seq, text: JSON.stringify(line) };
}

/** The reason as soon as no matching event can arrive; undefined when the signal aborts. */
export async function untilUnreachable(
  machine: Machine,
  conditions: Conditions,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  while (!signal.aborted) {
    const obstacle = await findObstacle(machine, conditions);
    if (obstacle !== undefined) return obstacle;
    await pause(CHECK_FEEDS_MS, signal);
  }
  return undefined;
}
