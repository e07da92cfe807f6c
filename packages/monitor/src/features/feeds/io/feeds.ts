// The feeds of the daemon: one tunnel per distinct channel, the code host's hooks, replay, and the reconciliations that
// find what no delivery reported. In this order: the tunnel is up, then the watched repositories are subscribed, then
// the last hour is replayed; the timers run from the start.
import { within } from '@svc/lib/timeout';
import type { Logger } from 'pino';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { api } from '../../api.ts';
import type { Config } from '../../config.ts';
import { type FeedChannel, feedChannel } from '../feed-channel.ts';
import { type FeedGrade, feedEdge } from '../feed-grade.ts';
import { type PolledFeed, unpolled } from '../polled-feed.ts';
import type { Receive } from './delivery-service.ts';
import { type FeedName, type Secrets } from './feed.ts';
import { createFeedPing, type PingResult } from './feed-ping.ts';
import { createPost, type ReadKey, readKeyOf } from './provision-channel.ts';
import type { Receiver } from './receiver.ts';
import { createConnect } from './session.ts';
import { createTunnel, type Tunnel } from './tunnel.ts';

// Which state changes of a feed need attention: it went blind, or its signatures fail. Both are resolved when the feed
// works again.

export function raiseOnEdge(feed: string, from: FeedGrade | null, to: FeedGrade): EventDraft[] {
  const before = from && reasonOf(from);
  const now = reasonOf(to);
  if (before === now) return [];
  return [...(before ? [resolved(feed, before)] : []), ...(now ? [raised(feed, now, to)] : [])];
}

type Reason = 'auth-failing' | 'feed-blind';

function reasonOf({ grade, code }: FeedGrade): Reason | null {
  if (code === 'auth-failing') return 'auth-failing';
  return grade === 'blind' ? 'feed-blind' : null;
}

const base = { source: 'monitor', via: 'local', scope: {} } as const;

function raised(feed: string, reason: Reason, { why, remedy }: FeedGrade): EventDraft {
  const message = `The ${feed} feed: ${why ?? reason}`;
  return {
    ...base,
    event: 'comms.attention',
    detail: { reason, message, severity: 'high', feed, ...(remedy !== null && { remedy }) },
  };
}

function resolved(feed: string, reason: Reason): EventDraft {
  return {
    ...base,
    event: 'comms.attention_resolved',
    detail: { reason, message: `The ${feed} feed works again`, feed },
  };
}

const TUNNEL_TIMEOUT_MS = 30_000;
/** Nobody waits longer for a poll: it goes on without them. */
const POLL_NOW_MS = 30_000;
const stillRunning = { why: 'it still runs; what it finds is shown as soon as it is found', remedy: null };
const late = (feed: FeedName) => () => [unpolled(feed, 'running', stillRunning)];

export type Feeds = {
  start: () => void;
  /** The configuration has changed: channels, secrets or watched repositories. */
  reconfigure: () => void;
  stop: () => Promise<void>;
  /** Sends a signed test delivery through every live feed and measures how long it takes. */
  ping: (timeoutMs: number) => Promise<PingResult[]>;
  /**
   * Compares the code host's list of deliveries with the log. With `repair`, fetches what is missing and polls code host
   * and tracker now: what no delivery reported is on the board afterwards.
   */
  check: (asked: { withinMs: number; repair: boolean }) => Promise<ApiAnswer<typeof api.checkFeeds>>;
  report: () => ApiAnswer<typeof api.getFeeds>;
};

type Report = ApiAnswer<typeof api.getFeeds>;

type CodehostPart = {
  begin: () => Promise<void>;
  reconfigure: () => void;
  stop: () => Promise<void>;
  /** Deliveries may have been missed. */
  replaySoon: () => Promise<unknown>;
  pollNow: () => Promise<PolledFeed>;
  compare: (asked: {
    withinMs: number;
    repair: boolean;
  }) => Promise<ApiAnswer<typeof api.checkFeeds>['repos']>;
  coverage: () => Report['repos'];
  figures: () => Report['codehost'];
};

type TrackerPart = { pollNow: () => Promise<PolledFeed[]>; figures: () => Report['tracker'] };

export function createFeeds(options: {
  configs: () => readonly Config[];
  /** A channel that is set only in a project's committed file. */
  committedChannel: () => string | undefined;
  secrets: () => Secrets;
  /** Names the proxy, if there is one, and contains the read keys of the channels. */
  environment: Environment;
  /** What the relay's status calls this machine. */
  hostId: string;
  receivers: Record<FeedName, Receiver>;
  log: EventLog;
  codehost: CodehostPart;
  tracker: () => TrackerPart;
  /** Where the tickets of a project are. */
  providerOf: (tracker: Config['svc']['tracker']) => 'linear' | 'github' | undefined;
  logger: Logger;
}): Feeds {
  const { secrets, environment, receivers, log, codehost, tracker, logger } = options;
  const logGrade = (name: string, tunnel: Tunnel, to: FeedGrade, from: FeedGrade | null): void => {
    // The position allows a feed that has delivered nothing yet to resume after a restart.
    const id = tunnel.stats().cursor;
    const relay = id === null ? undefined : { channel: tunnel.channelKey, id };
    const drafts = [feedEdge(name, from, to, relay), ...raiseOnEdge(name, from, to)];
    Promise.all(drafts.map((draft) => log.append(draft))).catch((error: unknown) =>
      logger.error({ err: error }, 'the state of a feed could not be logged'),
    );
  };
  const definitions = { codehost: receivers.codehost.feed, tracker: receivers.tracker.feed };
  const feedPing = createFeedPing({ definitions, secrets, post: createPost({ proxy: environment }) });
  const open = (wanted: FeedsChannel): OpenTunnel => {
    const { feeds, channel, readKey } = wanted;
    const name = feeds.join(' and ');
    const tunnel: Tunnel = createTunnel({
      feed: name,
      channel,
      receive: receiveFor(feeds, receivers),
      cursorOf: log.cursorOf,
      logger,
      connect: createConnect({ proxy: environment }),
      onState: (to, from) => logGrade(name, tunnel, to, from),
      onGap: () => void codehost.replaySoon(),
      selfTest: feedPing.selfTestOf(feeds),
      readKey,
      subscriber: options.hostId,
    });
    return { feeds, channel, tunnel, settings: JSON.stringify(wanted) };
  };
  let tunnels = channelsOf(options).map(open);
  let hasBegun = false;
  /** For channels that are no longer configured, until the new ones are open. */
  const leaving = new Set<Tunnel>();
  async function endLeaving(): Promise<void> {
    const ending = [...leaving];
    leaving.clear();
    await Promise.all(ending.map((tunnel) => tunnel.stop()));
  }

  function startTunnel({ feeds, tunnel }: OpenTunnel): void {
    tunnel.start();
    // A feed that is disabled from the start never changes state, so that is logged once.
    if (tunnel.state().grade.grade === 'disabled')
      logGrade(feeds.join(' and '), tunnel, tunnel.state().grade, null);
  }

  async function begin(): Promise<void> {
    await log.ready;
    hasBegun = true;
    tunnels.forEach(startTunnel);
    const own = tunnels.find(({ feeds }) => feeds.includes('codehost'))?.tunnel;
    if (own && isUsed(own)) await own.up(TUNNEL_TIMEOUT_MS);
    await codehost.begin();
  }

  return {
    start() {
      begin().catch((error: unknown) => logger.error({ err: error }, 'the feeds could not be opened'));
    },
    reconfigure() {
      const wanted = channelsOf(options);
      const kept = tunnels.filter(({ settings }) => wanted.some((one) => JSON.stringify(one) === settings));
      const left = tunnels.filter((one) => !kept.includes(one));
      const fresh = wanted
        .filter((one) => !kept.some(({ settings }) => settings === JSON.stringify(one)))
        .map(open);
      tunnels = [...kept, ...fresh];
      if (hasBegun) fresh.forEach(startTunnel);
      // The old tunnel stays open until the new one is up: nothing is lost in between, and repetitions count once.
      for (const { tunnel } of left) leaving.add(tunnel);
      const used = fresh.filter(({ tunnel }) => isUsed(tunnel));
      void Promise.all(used.map(({ tunnel }) => tunnel.up(TUNNEL_TIMEOUT_MS))).then(endLeaving);
      codehost.reconfigure();
    },
    async stop() {
      await Promise.all([...tunnels.map(({ tunnel }) => tunnel.stop()), endLeaving(), codehost.stop()]);
    },
    ping: (timeoutMs) =>
      feedPing.ping(
        tunnels.flatMap(({ feeds, channel, tunnel }) => feeds.map((feed) => ({ feed, channel, tunnel }))),
        timeoutMs,
      ),
    async check(asked) {
      const repos = await codehost.compare(asked);
      if (!asked.repair) return { repos, polled: [] };
      const polled = await Promise.all([
        within(
          codehost.pollNow().then((one) => [one]),
          POLL_NOW_MS,
          late('codehost'),
        ),
        within(tracker().pollNow(), POLL_NOW_MS, late('tracker')),
      ]);
      return { repos, polled: polled.flat() };
    },
    report: () => ({
      tunnels: tunnels.map(({ feeds, tunnel }) => ({
        feeds,
        channel: tunnel.channelKey,
        ...tunnel.state().grade,
        ...tunnel.stats(),
      })),
      repos: codehost.coverage(),
      codehost: codehost.figures(),
      tracker: tracker().figures(),
    }),
  };
}

const isUsed = (tunnel: Tunnel): boolean => tunnel.state().now.mode !== 'disabled';

type FeedsChannel = { feeds: FeedName[]; channel: FeedChannel; readKey: ReadKey | undefined };
/** `settings`: the channel and keys that it was opened with. */
type OpenTunnel = Omit<FeedsChannel, 'readKey'> & { tunnel: Tunnel; settings: string };

/** One connection per distinct channel: two feeds may share one. */
function channelsOf(options: {
  configs: () => readonly Config[];
  committedChannel: () => string | undefined;
  secrets: () => Secrets;
  environment: Environment;
  providerOf: (tracker: Config['svc']['tracker']) => 'linear' | 'github' | undefined;
}): FeedsChannel[] {
  const { environment, providerOf } = options;
  const [configs, secrets] = [options.configs(), options.secrets()];
  const first = (pick: (config: Config) => string | undefined) =>
    configs.map(pick).find((url) => url !== undefined);
  const channels = {
    codehost: first(({ svc }) => svc.monitor.github.smeeChannel),
    tracker: first(({ svc }) => svc.monitor.linear.smeeChannel),
  };
  const channelOf = (feed: FeedName): FeedsChannel => {
    // That address was chosen by an author of the project's file: it does not get the key.
    const isCommitted = channels[feed] !== undefined && channels[feed] === options.committedChannel();
    const readKey = isCommitted ? undefined : readKeyOf(configs, environment, feed);
    const channel = feedChannel({
      feed,
      channel: channels[feed],
      secrets: secrets[feed],
      hasReadKey: readKey?.value !== undefined,
    });
    return { feeds: [feed], channel, readKey };
  };
  const [codehost, tracker] = [channelOf('codehost'), channelOf('tracker')];
  // Issues of the code host come with its own feed: there is no other that could be off.
  const trackers = configs.map(({ svc }) => providerOf(svc.tracker));
  if (channels.tracker === undefined && trackers.includes('github') && !trackers.includes('linear'))
    return [codehost];
  if (!codehost.channel.use || !tracker.channel.use || codehost.channel.url !== tracker.channel.url)
    return [codehost, tracker];
  const readKey = codehost.readKey?.value === undefined ? tracker.readKey : codehost.readKey;
  return [{ feeds: ['codehost', 'tracker'], channel: codehost.channel, readKey }];
}

/** On a shared channel the signature header identifies the sender. */
function receiveFor(feeds: readonly FeedName[], receivers: Record<FeedName, Receiver>): Receive {
  const [only] = feeds;
  if (feeds.length === 1 && only !== undefined) return (delivery) => receivers[only].receive(delivery);
  return (delivery) => {
    const isTracker = receivers.tracker.feed.signatureIn(delivery.headers) !== undefined;
    return receivers[isTracker ? 'tracker' : 'codehost'].receive(delivery);
  };
}
