// Whether a project's data may be sent to a model. The daemon serves several projects, each with its own switch: if it
// is off, the project's tickets are excluded, even if other projects have AI on.
import { repoKey } from '../codehost/repo-name.ts';
import type { Config } from '../config/schema/config.ts';
import { ticketPrefixOf } from '../tracker/tracker-of.ts';

type Belonging = { ticket: string; repo: string | null };

/** Decided by the repository, or, if that is not configured, by the ticket's prefix. Data of no project is allowed. */
export function createConsent(configs: readonly Config[]): (one: Belonging) => boolean {
  return ({ ticket, repo }) => {
    const byRepo = repo === null ? [] : configs.filter((config) => hasRepo(config, repo));
    const owners = byRepo.length > 0 ? byRepo : configs.filter((config) => hasPrefix(config, ticket));
    return owners.every(({ svc }) => svc.ai.enabled);
  };
}

function hasRepo({ svc }: Config, repo: string): boolean {
  const { org, name } = svc.repository;
  const own = org !== undefined && name !== undefined ? [`${org}/${name}`] : [];
  return [...own, ...svc.monitor.github.watchRepos].some((one) => repoKey(one) === repoKey(repo));
}

function hasPrefix(config: Config, ticket: string): boolean {
  const prefix = ticketPrefixOf(config);
  return prefix !== undefined && ticket.toUpperCase().startsWith(`${prefix.toUpperCase()}-`);
}
