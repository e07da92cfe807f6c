// What a repository's hook needs. Ours is the one whose URL is the channel's, ignoring case. It is created if missing,
// and fixed if it would not deliver everything that we want, or not signed with our secret. The code host never returns
// a hook's secret, so we compare the fingerprint of the secret that we last gave to that hook.
import { repoKey } from '@svc/contract/repo-name';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { isSameUrl } from '../feeds/feed-channel.ts';
import { codehostEventTypes } from './map-codehost.ts';

/** Only the fields that we use; the code host shows the secret as `********`. */
export const CodehostHook = z.object({
  id: z.int().positive(),
  active: z.boolean(),
  events: z.array(z.string()),
  config: z.object({
    url: z.string().optional(),
    content_type: z.string().optional(),
    insecure_ssl: z.union([z.string(), z.number()]).optional(),
    secret: z.string().optional(),
  }),
});
export type CodehostHook = z.infer<typeof CodehostHook>;

type HookFlaw = 'url' | 'active' | 'events' | 'content_type' | 'secret';

export type HookPlan =
  | { step: 'create' }
  | { step: 'keep'; hook: CodehostHook }
  | { step: 'update'; hook: CodehostHook; flaws: HookFlaw[] };

export type HookWish = {
  channelUrl: string;
  /** What the hook has to report. */
  events: readonly string[];
  /** Fingerprint of the secret that deliveries must be signed with. */
  secretFingerprint: string;
  /** Fingerprint of the secret that we last gave to a hook; undefined if unknown. */
  fingerprintOf: (hookId: number) => string | undefined;
};

export function hookPlan(existing: readonly CodehostHook[], wish: HookWish): HookPlan {
  const ours = hooksOfChannel(existing, wish.channelUrl);
  const hook =
    ours.find(({ config, active }) => active && isSameAddress(config.url, wish.channelUrl)) ??
    ours.find(({ active }) => active) ??
    ours[0];
  if (hook === undefined) return { step: 'create' };
  const flaws = flawsOf(hook, wish);
  return flaws.length === 0 ? { step: 'keep', hook } : { step: 'update', hook, flaws };
}

/** The hooks whose URL is the channel's, ignoring case. */
export function hooksOfChannel(existing: readonly CodehostHook[], channelUrl: string): CodehostHook[] {
  return existing.filter(({ config }) => isSameUrl(config.url, channelUrl));
}

function flawsOf(hook: CodehostHook, wish: HookWish): HookFlaw[] {
  const { config } = hook;
  const isOurSecret = config.secret !== undefined && wish.fingerprintOf(hook.id) === wish.secretFingerprint;
  const flaws: [HookFlaw, boolean][] = [
    ['url', !isSameAddress(config.url, wish.channelUrl)],
    ['active', !hook.active],
    ['events', missingEvents(hook, wish.events).length > 0],
    ['content_type', config.content_type !== 'json'],
    ['secret', !isOurSecret],
  ];
  return flaws.filter(([, isFlawed]) => isFlawed).map(([flaw]) => flaw);
}

/** Letter case has no meaning in a host name, but it distinguishes channels at a relay. */
function isSameAddress(url: string | undefined, channelUrl: string): boolean {
  if (url === undefined || !URL.canParse(url) || !URL.canParse(channelUrl)) return url === channelUrl;
  return new URL(url).href === new URL(channelUrl).href;
}

function missingEvents({ events }: CodehostHook, wanted: readonly string[]): string[] {
  return events.includes('*') ? [] : wanted.filter((type) => !events.includes(type));
}

/** The request to the code host. A changed config is replaced as a whole, including the secret. */
export type HookBody = {
  active: true;
  events: string[];
  config: { url: string; content_type: 'json'; insecure_ssl: string; secret: string };
};

export function newHookBody(
  channelUrl: string,
  secret: string,
  events: readonly string[] = codehostEventTypes,
): HookBody & { name: 'web' } {
  return { name: 'web', ...bodyOf([...events], channelUrl, secret, '0') };
}

/** Keeps events that someone added, and the choice not to verify the relay's certificate. */
export function updatedHookBody(
  hook: CodehostHook,
  channelUrl: string,
  secret: string,
  wanted: readonly string[] = codehostEventTypes,
): HookBody {
  const events = [...hook.events, ...missingEvents(hook, wanted)];
  return bodyOf(events, channelUrl, secret, String(hook.config.insecure_ssl ?? '0'));
}

function bodyOf(events: string[], url: string, secret: string, insecureSsl: string): HookBody {
  return { active: true, events, config: { url, content_type: 'json', insecure_ssl: insecureSsl, secret } };
}

// When no hook is created although one could be. A project file may have been committed by someone else: it decides
// neither where a repository's events are sent, nor in which of the user's repositories a hook is created.

export type HookHold = 'not-configured' | 'polling-only' | 'committed-channel' | 'unconfirmed';

export function hookHold(given: {
  repo: string;
  configs: readonly Config[];
  /** A signal file on this machine names the repository, so there is work in it. */
  isMet: boolean;
  /** The channel is in a project file, and in none of the user's files. */
  isCommittedChannel: boolean;
}): HookHold | null {
  const key = repoKey(given.repo);
  if (given.configs.some(({ svc }) => svc.monitor.github.pollRepos.some((repo) => repoKey(repo) === key)))
    return 'polling-only';
  if (given.isCommittedChannel) return 'committed-channel';
  if (given.isMet) return null;
  const isConfirmed = given.configs.some(({ svc }) => {
    const { org, name } = svc.repository;
    const own = org === undefined || name === undefined ? [] : [`${org}/${name}`];
    return [...own, ...svc.monitor.github.hookRepos].some((repo) => repoKey(repo) === key);
  });
  return isConfirmed ? null : 'unconfirmed';
}

const words: Record<HookHold, (repo: string) => { why: string; remedy: string }> = {
  'not-configured': () => ({
    why: 'no relay channel is configured, or its secret is not set',
    remedy: 'Run: svc setup-webhooks, then svc monitor restart',
  }),
  'polling-only': (repo) => ({
    why: 'you chose polling only: changes appear within ten minutes, and nothing passes through a relay',
    remedy: `To see changes at once, run: svc setup-webhooks --add-repo ${repo}`,
  }),
  'committed-channel': () => ({
    why: 'the relay channel is in the project file, which others can change; no hook is created for it',
    remedy: 'Run: svc setup-webhooks',
  }),
  unconfirmed: (repo) => ({
    why: 'the project file watches it, but you have not confirmed that svc may create a hook there',
    remedy: `Run: svc setup-webhooks --add-repo ${repo}`,
  }),
};

export function hookHoldWords(
  repo: string,
  hold: HookHold | null,
): { code: string; why: string; remedy: string } {
  const code = hold ?? 'not-configured';
  return { code, ...words[code](repo) };
}
