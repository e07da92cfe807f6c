import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { boardView } from 'svc-monitor/src/features/board/board-view.ts';
import { expect, it, onTestFinished } from 'vitest';
import { openDay } from '../../../demo/src/day.ts';
import { pastOf } from '../../../demo/src/past.ts';
import { until, untilHolds } from '../waiting.ts';
import { writeHistory } from './history.ts';
import { liveEvents } from './live-events.ts';
import { playTeamDay, sendTracker } from './send.ts';
import { momentOf, startTapeDaemon, type TapeDaemon, type TapeOptions } from './tape-daemon.ts';

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

type Health = {
  feeds: { codehost: { outcomes: { accepted?: number } } };
  signals: { lastScanAt: string | null };
  sources: {
    tunnels: { feeds: string[]; grade: string }[];
    codehost: { lastAt: string | null };
    tracker: { teams: { lastAt: string | null }[] };
  };
};

const boardOf = (daemon: TapeDaemon) => get<BoardView>(daemon, '/api/board?all=1');
const statusesOf = ({ workers }: Pick<BoardView, 'workers'>) =>
  Object.fromEntries(workers.map(({ ticket, status }) => [ticket, status]));

function newComment({ day }: TapeDaemon): Record<string, unknown> {
  const recorded = day.records.find((record) => record.kind === 'tracker' && record.type === 'Comment');
  if (recorded?.kind !== 'tracker') throw new Error('the day has no comment');
  const { payload } = day.dated(recorded, new Date());
  return {
    ...payload,
    data: { ...(payload['data'] as object), id: 'comment-new', body: 'Something new.' },
  };
}

it('starts after the recorded day, and finds nothing new in the past', async () => {
  const daemon = await tapeDaemon({ past: 'end' });
  const board = await boardOf(daemon);
  const past = boardView(pastOf(daemon.day).board, { all: true });
  expect(statusesOf(board)).toEqual(statusesOf(past));
  // It has checked everything once: the signal files, the code host and the tracker.
  await untilHolds(async () => {
    const { feeds, signals, sources } = await get<Health>(daemon, '/api/health');
    expect(sources.tunnels.map(({ feeds: names, grade }) => [names.join(), grade])).toEqual([
      ['codehost', 'live'],
      ['tracker', 'disabled'],
    ]);
    expect(feeds.codehost.outcomes.accepted).toBe(2);
    const checked = [
      signals.lastScanAt,
      sources.codehost.lastAt,
      ...sources.tracker.teams.map((team) => team.lastAt),
    ];
    expect(checked).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
  });
  const { id } = await sendTracker(daemon, 'Comment', newComment(daemon));
  const events = await until(async () => {
    const path = `/api/events?since=${past.seq + 1}&limit=50`;
    const found = await get<{ events: { event: string; id: string }[] }>(daemon, path);
    return found.events.some((line) => line.id === id) ? found.events : undefined;
  });
  // It starts, its feeds connect, and the code host pings its new hooks.
  const news = events.filter(({ event }) => !/^monitor\.|^codehost\.other$/.test(event));
  expect(news.map((line) => line.id)).toEqual([id]);
});

it('reaches the same state when the afternoon is played live', async () => {
  const daemon = await tapeDaemon({ past: 'midday' });
  await playTeamDay(daemon, { upTo: 'end', pace: 5 });
  const day = openDay({ now: new Date(), nowIs: momentOf.end, pid: process.pid });
  const wanted = boardView(pastOf(day).board, { all: true });
  await expect.poll(async () => statusesOf(await boardOf(daemon))).toEqual(statusesOf(wanted));
  const reasons = async () => (await boardOf(daemon)).attention.map(({ id }) => id).toSorted();
  await expect.poll(reasons).toEqual(wanted.attention.map(({ id }) => id).toSorted());
});

it('sends steady traffic that the daemon accepts', async () => {
  const daemon = await tapeDaemon({ past: 'end' });
  const live = liveEvents(daemon, { perMinute: 1_200 });
  await until(() => live.sent() >= 30 || live.problem() !== undefined);
  await live.stop();
  expect(live.problem()).toBeUndefined();
  expect(live.sent()).toBeGreaterThanOrEqual(30);
});

it('starts after a history that was written before', async () => {
  const daemon = await tapeDaemon({
    past: 'end',
    history: (eventsDir, end) => writeHistory(eventsDir, { cards: 50, until: end, days: 10 }),
  });
  const { workers } = await boardOf(daemon);
  expect(workers.filter(({ ticket }) => ticket.startsWith('OLD-'))).toHaveLength(50);
  expect(workers.filter(({ ticket }) => ticket.startsWith('TID-')).length).toBeGreaterThan(20);
});
