// Whether a feed can be opened. Without a channel or a secret the daemon only polls; that is not an error, but it is
// reported with the command that changes it. A channel that would send its read key unencrypted over the network is not
// opened.
import { type FeedSecrets, secretProblem } from './delivery.ts';
import { NO_CHANNEL } from './judge-feeds.ts';

export type FeedChannel = { use: true; url: string } | { use: false; why: string; remedy: string };

const setupCommands = {
  codehost: 'svc setup-webhooks',
  tracker: 'svc setup-webhooks --linear-register',
} as const;

const channelKeys = {
  codehost: 'svc.monitor.github.smeeChannel',
  tracker: 'svc.monitor.linear.smeeChannel',
} as const;

export function feedChannel(given: {
  feed: keyof typeof setupCommands;
  channel: string | undefined;
  secrets: FeedSecrets;
  /** Whether a read key would be sent with every connection. */
  hasReadKey: boolean;
}): FeedChannel {
  const setup = `Run: ${setupCommands[given.feed]}`;
  if (given.channel === undefined || given.channel.trim() === '')
    return { use: false, why: NO_CHANNEL, remedy: setup };
  const url = channelUrl(given.channel);
  if (url === undefined)
    return { use: false, why: 'the relay channel is not an http or https URL', remedy: setup };
  if (given.hasReadKey && !isPrivateWay(url))
    return {
      use: false,
      why: 'the channel has a read key, but its http URL would expose it on the network',
      remedy: `Use the relay's https address: svc config set ${channelKeys[given.feed]} <url>`,
    };
  const problem = given.secrets.values.length > 0 ? undefined : secretProblem(given.feed, given.secrets);
  return problem === undefined ? { use: true, url } : { use: false, ...problem };
}

/** Encrypted, or on this machine. */
export function isPrivateWay(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return true;
  return url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}

/** Normalises a channel URL, so that two feeds on the same channel share one connection. */
export function channelUrl(text: string): string | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const url = new URL(text.trim());
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  if (url.pathname.length > 1) url.pathname = url.pathname.replace(/\/+$/, '');
  return url.href;
}

/** `relayOfChannel('https://relay.example/hooks/AbC')` is `https://relay.example/hooks`. */
export function relayOfChannel(channel: string): string | undefined {
  const url = channelUrl(channel);
  return url === undefined ? undefined : relayUrl(new URL('.', url).href);
}

/** Normalises a relay URL: no query, no slash at its end. */
export function relayUrl(text: string): string | undefined {
  const href = channelUrl(text);
  if (href === undefined) return undefined;
  const url = new URL(href);
  url.search = '';
  return url.href.replace(/\/+$/, '');
}

/** Ignores case, because the tracker and the relay may write URLs differently. */
export function isSameUrl(one: string | null | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}
