// The tunnels of all feeds: one connection per distinct channel. Feeds on one channel share it, and each
// delivery goes to the receiver whose signature it carries. A feed without a channel or a secret has a tunnel
// that does nothing and says why.
import { type FeedChannel, type FeedGrade, headerValue } from '@svc/core';
import type { Receive } from './delivery.ts';
import { createTunnel, type Gap, type Tunnel, type TunnelOptions } from './tunnel.ts';

type FeedName = 'codehost' | 'tracker';
type FeedRoute = { feed: FeedName; channel: FeedChannel; receive: Receive };

export type Tunnels = {
  start: () => void;
  stop: () => Promise<void>;
  of: (feed: FeedName) => Tunnel;
};

export function createTunnels(
  options: Omit<TunnelOptions, 'feed' | 'channel' | 'receive' | 'onState' | 'onGap'> & {
    codehost: Omit<FeedRoute, 'feed'>;
    tracker: Omit<FeedRoute, 'feed'>;
    /** Called for each feed of the channel. */
    onState?: (feed: FeedName, to: FeedGrade, from: FeedGrade) => void;
    onGap?: (feed: FeedName, gap: Gap) => void;
  },
): Tunnels {
  const { codehost, tracker, onState, onGap, ...common } = options;

  function open(routes: readonly [FeedRoute, ...FeedRoute[]]): Tunnel {
    const [{ channel, receive }] = routes;
    const feeds = routes.map(({ feed }) => feed);
    return createTunnel({
      ...common,
      feed: feeds.join(' and '),
      channel,
      receive: routes.length === 1 ? receive : routeBySignature(codehost.receive, tracker.receive),
      onState(to, from) {
        for (const feed of feeds) onState?.(feed, to, from);
      },
      onGap(gap) {
        for (const feed of feeds) onGap?.(feed, gap);
      },
    });
  }

  const first: FeedRoute = { feed: 'codehost', ...codehost };
  const second: FeedRoute = { feed: 'tracker', ...tracker };
  const shared = sameChannel(codehost.channel, tracker.channel) ? open([first, second]) : null;
  const tunnels: Record<FeedName, Tunnel> = {
    codehost: shared ?? open([first]),
    tracker: shared ?? open([second]),
  };
  const distinct = [...new Set(Object.values(tunnels))];
  return {
    start() {
      for (const tunnel of distinct) tunnel.start();
    },
    async stop() {
      await Promise.all(distinct.map((tunnel) => tunnel.stop()));
    },
    of: (feed) => tunnels[feed],
  };
}

function sameChannel(one: FeedChannel, other: FeedChannel): boolean {
  return one.use && other.use && one.url === other.url;
}

function routeBySignature(codehost: Receive, tracker: Receive): Receive {
  return (delivery) =>
    headerValue(delivery.headers, 'Tracker-Signature') === undefined ? codehost(delivery) : tracker(delivery);
}
