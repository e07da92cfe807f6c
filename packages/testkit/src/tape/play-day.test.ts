import { setTimeout as sleep } from 'node:timers/promises';
import { type BoardView, boardView } from '@svc/core';
import { expect, it, onTestFinished } from 'vitest';
import { writeHistory } from './history.ts';
import { liveEvents } from './live-events.ts';
import { pastOf } from './past.ts';
import { playTeamDay } from './play-day.ts';
import { startTapeDaemon, type TapeDaemon, type TapeOptions } from './tape-daemon.ts';
import { momentOf, teamDay } from './team-day.ts';

const PATIENCE_MS = 90_000;

async function tapeDaemon(options: TapeOptions): Promise<TapeDaemon> {
  const daemon = await startTapeDaemon(options);
  onTestFinished(daemon.close);
  return daemon;
}

async function get<T>({ url }: TapeDaemon, path: string): Promise<T> {
  const response = await fetch(url + path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

const boardOf = (daemon: TapeDaemon) => get<BoardView>(daemon, '/api/board?all=1');
const statusesOf = ({ workers }: Pick<BoardView, 'workers'>) =>
  Object.fromEntries(workers.map(({ ticket, status }) => [ticket, status]));

it('starts with the day behind it, and finds nothing new in its own past', {
  timeout: PATIENCE_MS,
}, async () => {
  const daemon = await tapeDaemon({ past: 'end' });
  const board = await boardOf(daemon);
  const told = boardView(pastOf(daemon.day).board, { all: true });
  expect(statusesOf(board)).toEqual(statusesOf(told));
  await sleep(3_000);
  const { events } = await get<{ events: { event: string }[] }>(
    daemon,
    `/api/events?since=${told.seq + 1}&limit=50`,
  );
  // It starts, its feeds come up, and the code host greets its new hooks.
  expect(events.filter(({ event }) => !/^monitor\.|^codehost\.other$/.test(event))).toEqual([]);
  const health = await get<{ sources: { tunnels: { feeds: string[]; grade: string }[] } }>(
    daemon,
    '/api/health',
  );
  expect(health.sources.tunnels.map(({ feeds, grade }) => [feeds.join(), grade])).toEqual([
    ['codehost', 'live'],
    ['tracker', 'disabled'],
  ]);
});

it('comes to the same when the afternoon is played live', { timeout: PATIENCE_MS }, async () => {
  const daemon = await tapeDaemon({ past: 'midday' });
  await playTeamDay(daemon, { upTo: 'end', pace: 20 });
  const day = teamDay({ seed: 1, now: new Date(), nowIs: momentOf.end, livingPid: process.pid });
  const wanted = boardView(pastOf(day).board, { all: true });
  await expect
    .poll(async () => statusesOf(await boardOf(daemon)), { timeout: 20_000 })
    .toEqual(statusesOf(wanted));
  const reasons = async () => (await boardOf(daemon)).attention.map(({ id }) => id).toSorted();
  await expect.poll(reasons, { timeout: 20_000 }).toEqual(wanted.attention.map(({ id }) => id).toSorted());
});

it('keeps a steady traffic that the daemon takes', { timeout: PATIENCE_MS }, async () => {
  const daemon = await tapeDaemon({ past: 'end' });
  const live = liveEvents(daemon, { perMinute: 600 });
  await sleep(4_000);
  await live.stop();
  expect(live.problem()).toBeUndefined();
  expect(live.sent()).toBeGreaterThanOrEqual(30);
});

it('begins behind a history that was written before', { timeout: PATIENCE_MS }, async () => {
  const daemon = await tapeDaemon({
    past: 'end',
    history: (eventsDir, until) => writeHistory(eventsDir, { cards: 50, until, days: 10 }),
  });
  const { workers } = await boardOf(daemon);
  expect(workers.filter(({ ticket }) => ticket.startsWith('OLD-'))).toHaveLength(50);
  expect(workers.filter(({ ticket }) => ticket.startsWith('TID-')).length).toBeGreaterThan(20);
});
