// Whether what belongs to a project may be told to a model. The daemon serves several projects, and each has
// its own switch: one that is off keeps its tickets out, whoever else has AI on.
import { repoKey } from '../codehost/repo-name.ts';
import type { Config } from '../config/schema/config.ts';

type Belonging = { ticket: string; repo: string | null };

/** A repository says most; where it is none of ours, the prefix of the ticket does. Nobody's is nobody's secret. */
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

function hasPrefix({ svc }: Config, ticket: string): boolean {
  const prefix = svc.project.ticketPrefix ?? svc.tracker.teamKey;
  return prefix !== undefined && ticket.toUpperCase().startsWith(`${prefix.toUpperCase()}-`);
}
