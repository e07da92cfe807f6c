// Whether the feed that could deliver an awaited line sees anything. A wait that is strict ends when it does not:
// waiting on would look like nothing had happened.

import { topicsMatching } from '@svc/core';
import { pause } from '@svc/lib/timeout';
import type { Machine } from '../config/environment.ts';
import { Failure } from '../errors.ts';
import { connectDaemon } from './daemon-client.ts';

const LOOK_EVERY_MS = 5_000;

/** Why a line of these topics (all, when none are named) could not be seen now, or undefined when it could. */
export async function findBlindness(
  machine: Machine,
  topics: string | undefined,
): Promise<Failure | undefined> {
  const families = new Set(topicsMatching(topics ?? '*').map((topic) => topic.slice(0, topic.indexOf('.'))));
  const daemon = await connectDaemon(machine);
  if (daemon === undefined)
    return new Failure('feed-blind', 'The daemon is not running.', 'Start it: svc-monitor.sh start');
  const { tunnels } = await daemon.get('/api/feeds');
  const blind = tunnels.find(
    ({ feeds, grade }) => grade === 'blind' && feeds.some((feed) => families.has(feed)),
  );
  if (blind === undefined) return undefined;
  return new Failure(
    'feed-blind',
    `The ${blind.feeds.join(' and ')} feed is blind: ${blind.why ?? 'nothing arrives'}.`,
    blind.remedy ?? 'See: svc feeds',
  );
}

/** Rejects with `feed-blind` as soon as such a feed is blind; resolves with the signal. */
export async function untilBlind(
  machine: Machine,
  topics: string | undefined,
  signal: AbortSignal,
): Promise<undefined> {
  while (!signal.aborted) {
    const blindness = await findBlindness(machine, topics);
    if (blindness !== undefined) throw blindness;
    await pause(LOOK_EVERY_MS, signal);
  }
  return undefined;
}
