// Lives the day: every step at its moment, what happens told to the daemon, what is to be seen told to the person.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardView, EventLine } from '@svc/core';
import type { TeamDay } from '../../testkit/src/tape/team-day.ts';
import type { Clouds } from './clouds.ts';
import type { DaemonAddress } from './daemon-address.ts';
import { followEvents } from './follow-events.ts';
import { clockText, DAY_ENDS, type Scene, scenes, WAITS_FOR_YOU } from './scenes.ts';
import { msPerMinuteOf, scheduleOf } from './schedule.ts';
import { awaitYourWord } from './your-word.ts';

const CONNECTED_WITHIN_MS = 30_000;

export type PlayOptions = {
  daemon: DaemonAddress;
  clouds: Clouds;
  day: TeamDay;
  lengthMs: number;
  say: (text: string) => void;
  signal: AbortSignal;
};

export async function playDay(options: PlayOptions): Promise<void> {
  const { daemon, clouds, day, lengthMs, say, signal } = options;
  const msPerMinute = msPerMinuteOf(lengthMs);
  const yours = awaitYourWord({ ...options, facts: day.facts, msPerMinute });
  const saw = (line: EventLine): void => {
    clouds.saw(line);
    yours.saw(line);
  };
  await followEvents(daemon, saw, signal);
  await untilConnected(clouds, signal);
  const began = Date.now();
  day.goLive(began, msPerMinute);
  for (const step of scheduleOf({ facts: day.facts, scenes, lengthMs })) {
    await until(began + step.afterMs, signal);
    if ('fact' in step) await clouds.tell(daemon, step.fact, new Date());
    else if (!isSettled(step.scene, yours.isSaid()))
      say(`${clockText(step.scene.minute)}  ${step.scene.says}`);
  }
  await until(began + lengthMs, signal);
  await yours.settled();
  for (const line of endingLines(await boardOf(daemon))) say(line);
}

/** The person was faster than the script. */
function isSettled({ says }: Scene, isSaid: boolean): boolean {
  return isSaid && says.startsWith(`${WAITS_FOR_YOU} needs you`);
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  const wait = time - Date.now();
  if (wait > 0) await sleep(wait, undefined, { signal });
  signal.throwIfAborted();
}

/** Until the daemon listens on both channels: the relay keeps nothing for who comes late. */
async function untilConnected({ relay }: Clouds, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + CONNECTED_WITHIN_MS;
  while (relay.subscribers() < 2) {
    if (performance.now() > deadline)
      throw new Error('The daemon does not connect to the relay of the demo.');
    await sleep(20, undefined, { signal });
  }
}

async function boardOf({ url, headers }: DaemonAddress): Promise<Board> {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`${url}/api/board?all=1`, { headers, signal });
  return (await response.json()) as Board;
}

type Board = Pick<BoardView, 'workers' | 'attention' | 'seq'>;

export function endingLines({ workers, attention, seq }: Board): string[] {
  const done = workers.filter(({ status }) => status === 'done').length;
  const waits = attention.some(
    ({ ticket, reason }) => ticket === WAITS_FOR_YOU && reason === 'deploy-budget-exhausted',
  );
  return [
    `${clockText(DAY_ENDS)}  The day is over: ${done} of ${workers.length} tickets are done, ${attention.length} things wait for somebody.`,
    ...(waits
      ? [`       ${WAITS_FOR_YOU} still waits for you: only a person may say what becomes of it.`]
      : []),
    '',
    `You saw the real daemon. ${seq} lines came to its log: signed deliveries through a relay,`,
    'files of workers, and your own words. Every card, item and proof was made from them.',
  ];
}
