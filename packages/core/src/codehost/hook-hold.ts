// When no hook is made although one could be. A project's file may have been committed by somebody else: it decides
// neither where events of a repository are sent, nor in which repositories of the user a hook is made.
import type { Config } from '../config/schema/config.ts';
import { repoKey } from './repo-name.ts';

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
