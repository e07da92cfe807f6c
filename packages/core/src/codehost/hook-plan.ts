// What a repository's hook needs. Ours is the one whose URL is the channel's, ignoring case. It is created
// when there is none, and mended when it would not deliver all that we want, or not signed with our secret.
// The code host never tells a hook's secret: whether it is ours is known by the fingerprint of the secret
// that we last gave to that hook.
import { z } from 'zod';
import type { Config } from '../config/schema/config.ts';
import { codehostEventTypes } from '../receive/map-codehost.ts';
import { isSameUrl } from '../tracker/registration.ts';
import { repoKey } from './repo-name.ts';

/** As far as we look at it; the code host shows the secret as `********`. */
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

export type HookFlaw = 'url' | 'active' | 'events' | 'content_type' | 'secret';

export type HookPlan =
  | { step: 'create' }
  | { step: 'keep'; hook: CodehostHook }
  | { step: 'mend'; hook: CodehostHook; flaws: HookFlaw[] };

export type HookWish = {
  channelUrl: string;
  /** Of the secret that deliveries must be signed with. */
  secretFingerprint: string;
  /** Of the secret that we last gave to a hook; undefined when we do not know. */
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
  return flaws.length === 0 ? { step: 'keep', hook } : { step: 'mend', hook, flaws };
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
    ['events', missingEvents(hook).length > 0],
    ['content_type', config.content_type !== 'json'],
    ['secret', !isOurSecret],
  ];
  return flaws.filter(([, isFlawed]) => isFlawed).map(([flaw]) => flaw);
}

/** Capitals mean nothing in a host name, but a relay tells two channels apart by them. */
function isSameAddress(url: string | undefined, channelUrl: string): boolean {
  if (url === undefined || !URL.canParse(url) || !URL.canParse(channelUrl)) return url === channelUrl;
  return new URL(url).href === new URL(channelUrl).href;
}

function missingEvents({ events }: CodehostHook): string[] {
  return events.includes('*') ? [] : codehostEventTypes.filter((type) => !events.includes(type));
}

/** What the code host is to be sent. A config that is changed is replaced as a whole, the secret included. */
export type HookBody = {
  active: true;
  events: string[];
  config: { url: string; content_type: 'json'; insecure_ssl: string; secret: string };
};

export function newHookBody(channelUrl: string, secret: string): HookBody & { name: 'web' } {
  return { name: 'web', ...bodyOf([...codehostEventTypes], channelUrl, secret, '0') };
}

/** Events that somebody added stay, and so does the choice not to verify the relay's certificate. */
export function mendedHookBody(hook: CodehostHook, channelUrl: string, secret: string): HookBody {
  const events = [...hook.events, ...missingEvents(hook)];
  return bodyOf(events, channelUrl, secret, String(hook.config.insecure_ssl ?? '0'));
}

function bodyOf(events: string[], url: string, secret: string, insecureSsl: string): HookBody {
  return { active: true, events, config: { url, content_type: 'json', insecure_ssl: insecureSsl, secret } };
}

// When no hook is made although one could be. A project's file may have been committed by somebody else: it decides
// neither where events of a repository are sent, nor in which repositories of the user a hook is made.

export type HookHold = 'not-configured' | 'committed-channel' | 'unconfirmed';

export function hookHold(given: {
  repo: string;
  configs: readonly Config[];
  /** Work of this machine goes on in the repository: a signal file names it. */
  isMet: boolean;
  /** The channel stands in a project's file, and in no file of the user's. */
  isCommittedChannel: boolean;
}): HookHold | null {
  if (given.isCommittedChannel) return 'committed-channel';
  if (given.isMet) return null;
  const key = repoKey(given.repo);
  const isConfirmed = given.configs.some(({ svc }) => {
    const { org, name } = svc.repository;
    const own = org === undefined || name === undefined ? [] : [`${org}/${name}`];
    return [...own, ...svc.monitor.github.hookRepos].some((repo) => repoKey(repo) === key);
  });
  return isConfirmed ? null : 'unconfirmed';
}

const words: Record<HookHold, (repo: string) => { why: string; remedy: string }> = {
  'not-configured': () => ({
    why: 'there is no relay channel, or its secret is not set',
    remedy: 'Run: setup-webhooks.sh, and restart the daemon',
  }),
  'committed-channel': () => ({
    why: 'the relay channel stands in the project file, which others can write; no hook is made for it',
    remedy: 'Run: setup-webhooks.sh',
  }),
  unconfirmed: (repo) => ({
    why: 'the project file watches it, and you have not confirmed that a hook may be made there',
    remedy: `Run: setup-webhooks.sh --add-repo ${repo}`,
  }),
};

export function hookHoldWords(
  repo: string,
  hold: HookHold | null,
): { code: string; why: string; remedy: string } {
  const code = hold ?? 'not-configured';
  return { code, ...words[code](repo) };
}
