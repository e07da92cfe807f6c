// Plays the day: every record at its time, into the daemon or, if it is a scene, to the terminal.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Link } from '@svc/client';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { isShipped } from 'svc-monitor/src/features/workers/status-groups.ts';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
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
  print: (text: string) => void;
  signal: AbortSignal;
};

export async function playDay(options: PlayOptions): Promise<void> {
  const { daemon, clouds, day, lengthMs, print, signal } = options;
  const msPerMinute = msPerMinuteOf(lengthMs);
  const decision = awaitDecision({ ...options, msPerMinute });
  const saw = (line: EventLine): void => {
    clouds.saw(line);
    decision.saw(line);
  };
  await followEvents(daemon, saw, signal);
  await untilConnected(clouds, signal);
  const startedAt = Date.now();
  day.goLive(startedAt, msPerMinute);
  for (const record of recordsToPlay(day)) {
    await until(day.timeOf(record.at).getTime(), signal);
    if (record.kind !== 'scene') await clouds.play(daemon, day.dated(record, new Date()));
    else if (!(decision.isMade() && asksForDecision(record.text)))
      print(`${clockText(record.at)}  ${record.text}`);
  }
  await until(startedAt + lengthMs, signal);
  await decision.settled();
  for (const line of endingLines(await boardOf(daemon))) print(line);
}

/** Reads the live log until `signal`. Resolves when the stream is open. */
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

/** Includes the scene of the minute at which it starts. */
export function recordsToPlay({ records, nowIs }: Day): DayRecord[] {
  return records.filter(({ at, kind }) => at > nowIs || (kind === 'scene' && at === nowIs));
}

/** The user may have decided before the scene asks for it. */
function asksForDecision(text: string): boolean {
  return text.startsWith(`${WAITS_FOR_YOU} needs you`);
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  const wait = time - Date.now();
  if (wait > 0) await sleep(wait, undefined, { signal });
  signal.throwIfAborted();
}

/** Waits until the daemon listens on both channels: the relay does not store deliveries. */
async function untilConnected({ relay }: Clouds, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + CONNECTED_WITHIN_MS;
  while (relay.subscribers() < 2) {
    if (performance.now() > deadline) throw new Error('The daemon did not connect to the demo relay.');
    await sleep(20, undefined, { signal });
  }
}

function boardOf({ url, headers }: DaemonAddress): Promise<Board> {
  return createClient(url, { headers, timeoutMs: 10_000 }).get('/api/board', { query: { all: '1' } });
}

/** `needsYou` is the number that every screen shows. */
type Board = Pick<BoardView, 'workers' | 'attention' | 'seq'> & { needsYou: number };

export function endingLines({ workers, attention, needsYou, seq }: Board): string[] {
  const done = workers.filter(isShipped).length;
  const isWaiting = attention.some(
    ({ ticket, reason }) => ticket === WAITS_FOR_YOU && reason === 'deploy-budget-exhausted',
  );
  return [
    `${clockText(DAY_ENDS)}  The day is over: ${done} of ${workers.length} tickets are done, ${needsYou} ${needsYou === 1 ? 'needs' : 'need'} you.`,
    ...(isWaiting ? [`       ${WAITS_FOR_YOU} is still waiting for you: only a person can decide it.`] : []),
    '',
    `You saw the real daemon. It recorded ${seq} events: signed deliveries through a relay, agents'`,
    'files, and your decisions. Every card, attention item and proof was computed from them.',
  ];
}
