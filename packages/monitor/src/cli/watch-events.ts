// The log as it grows, for a verb that waits. Its modes:
// - streaming: the daemon runs and sends what was asked for. Left when the stream ends or falls silent.
// - following: no daemon runs; the files are read as they grow. Left when a daemon answers again.
// The seq of the last line seen goes along from one mode to the other: no line is missed or seen twice.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventLine, matchesFilter } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import type { Machine } from '../config/environment.ts';
import { followLog } from '../log/follow.ts';
import { connectDaemon, type DaemonClient } from './daemon-client.ts';
import { type Conditions, pointText } from './event-conditions.ts';

/** Three keep-alives missed: the daemon is stuck. */
const SILENCE_MS = 45_000;
const LOOK_FOR_DAEMON_MS = 1_000;

/** The first frame of a stream: lines behind this one follow. */
const Ready = z.object({ after: z.int() });

export type WatchedLine = { seq: number; text: string };

export function lineOf({ text }: WatchedLine): EventLine {
  return EventLine.parse(JSON.parse(text));
}

/** Batches of lines that meet the conditions, in order; ends when the signal does. */
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
      // Pinned before the first look: what is written while a daemon comes up is seen in either mode.
      cursor.since ??= { time: now().getTime() };
      yield* following(machine, conditions, cursor, signal);
    }
    if (!signal.aborted) await sleep(50);
  }
}

/** Where to go on: the condition given at first, then the last line seen. */
type Cursor = { since: Conditions['since'] };

async function* streaming(daemon: DaemonClient, { query }: Conditions, cursor: Cursor, signal: AbortSignal) {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  const since = cursor.since === undefined ? {} : { since: pointText(cursor.since) };
  let watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  const heard = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    const parameters = new URLSearchParams({ ...query, ...since }).toString();
    for await (const frames of openStream(daemon, `/api/events/stream?${parameters}`, ended, heard)) {
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
    // The daemon went away, or we stopped listening: the caller looks for it again.
    if (!ended.aborted && systemErrorCode(error) === undefined) throw error;
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

/** The frames of each piece of the stream. node:http, because loading `fetch` takes longer than all the rest. */
async function* openStream(
  { url, headers }: DaemonClient,
  path: string,
  signal: AbortSignal,
  heard: () => void,
): AsyncGenerator<EventSourceMessage[]> {
  const request = get(url + path, { headers, signal });
  // Every end is told below, also that of a signal that has ended already; the request repeats it.
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
  if (response.statusCode !== 200) return void response.destroy();
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame), onComment: heard });
  response.setEncoding('utf8');
  for await (const text of response as AsyncIterable<string>) {
    heard();
    parser.feed(text);
    if (frames.length > 0) yield frames.splice(0);
  }
}

async function* following(machine: Machine, { filter }: Conditions, cursor: Cursor, signal: AbortSignal) {
  const found = new AbortController();
  const ended = AbortSignal.any([signal, found.signal]);
  const look = setInterval(() => {
    connectDaemon(machine).then(
      (daemon) => daemon && found.abort(),
      () => undefined,
    );
  }, LOOK_FOR_DAEMON_MS);
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
    clearInterval(look);
  }
}
