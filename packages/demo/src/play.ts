// Plays the day: every record at its moment, into the daemon or, if it is a scene, onto the terminal.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Link } from '@svc/client';
import type { BoardView, EventLine } from '@svc/core';
import type { Clouds } from './clouds.ts';
import type { DaemonAddress } from './daemon.ts';
import { clockText, DAY_ENDS, type Day, type DayRecord, msPerMinuteOf, WAITS_FOR_YOU } from './day.ts';
import { awaitDecision } from './decision.ts';

const CONNECTED_WITHIN_MS = 30_000;

export type PlayOptions = {
  daemon: DaemonAddress;
  clouds: Clouds;
  day: Day;
  lengthMs: number;
  say: (text: string) => void;
  signal: AbortSignal;
};

export async function playDay(options: PlayOptions): Promise<void> {
  const { daemon, clouds, day, lengthMs, say, signal } = options;
  const msPerMinute = msPerMinuteOf(lengthMs);
  const decision = awaitDecision({ ...options, msPerMinute });
  const saw = (line: EventLine): void => {
    clouds.saw(line);
    decision.saw(line);
  };
  await followEvents(daemon, saw, signal);
  await untilConnected(clouds, signal);
  const began = Date.now();
  day.goLive(began, msPerMinute);
  for (const record of recordsToPlay(day)) {
    await until(day.timeOf(record.at).getTime(), signal);
    if (record.kind !== 'scene') await clouds.play(daemon, day.dated(record, new Date()));
    else if (!(decision.isMade() && asksForDecision(record.says)))
      say(`${clockText(record.at)}  ${record.says}`);
  }
  await until(began + lengthMs, signal);
  await decision.settled();
  for (const line of endingLines(await boardOf(daemon))) say(line);
}

/** Reads the live log. Resolves when the first stream is open; it goes on until `signal`. */
function followEvents(
  { url, headers }: DaemonAddress,
  onLine: (line: EventLine) => void,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onLink = ({ state }: Link): void => (state === 'live' ? resolve() : undefined);
  const follow = async (): Promise<void> => {
    for await (const line of createClient(url, { headers }).follow({ signal, onLink })) onLine(line);
  };
  void follow().finally(resolve);
  return promise;
}

/** The scene of the minute at which it starts is shown too. */
export function recordsToPlay({ records, nowIs }: Day): DayRecord[] {
  return records.filter(({ at, kind }) => at > nowIs || (kind === 'scene' && at === nowIs));
}

/** The person may have decided before the scene asks for it. */
function asksForDecision(says: string): boolean {
  return says.startsWith(`${WAITS_FOR_YOU} needs you`);
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  const wait = time - Date.now();
  if (wait > 0) await sleep(wait, undefined, { signal });
  signal.throwIfAborted();
}

/** Until the daemon listens on both channels: the relay keeps nothing for later. */
async function untilConnected({ relay }: Clouds, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + CONNECTED_WITHIN_MS;
  while (relay.subscribers() < 2) {
    if (performance.now() > deadline)
      throw new Error('The daemon does not connect to the relay of the demo.');
    await sleep(20, undefined, { signal });
  }
}

function boardOf({ url, headers }: DaemonAddress): Promise<Board> {
  return createClient(url, { headers, timeoutMs: 10_000 }).get('/api/board', { query: { all: '1' } });
}

type Board = Pick<BoardView, 'workers' | 'attention' | 'seq'>;

export function endingLines({ workers, attention, seq }: Board): string[] {
  const done = workers.filter(({ status }) => status === 'done').length;
  const waits = attention.some(
    ({ ticket, reason }) => ticket === WAITS_FOR_YOU && reason === 'deploy-budget-exhausted',
  );
  return [
    `${clockText(DAY_ENDS)}  The day is over: ${done} of ${workers.length} tickets are done, ${attention.length} things wait for somebody.`,
    ...(waits ? [`       ${WAITS_FOR_YOU} still waits for you: only a person may decide about it.`] : []),
    '',
    `You saw the real daemon. ${seq} lines came to its log: signed deliveries through a relay,`,
    'files of workers, and your own decisions. Every card, item and proof was made from them.',
  ];
}
