// Which tracker the tickets of a project are in, and how they are named. Everything that needs a tracker asks here.
import { type GithubProject, githubProjectIn, repoKey, repoNameIn } from '@svc/contract/repo-name';
import type { Config } from '../config.ts';
import type { StateMap } from './github-states.ts';

type LinearTracker = {
  provider: 'linear';
  token: string;
  /** The prefix of its tickets. */
  teamKey: string | undefined;
  /** Null until it was looked up. */
  teamId: string | null;
};

/** The issues of a repository. */
export type GithubTracker = {
  provider: 'github';
  teamKey: string;
  /** `acme/web` */
  teamId: string;
  /** Its status field holds the states; without it, labels do. */
  project: GithubProject | undefined;
  stateMap: StateMap;
};

export type ConfiguredTracker = LinearTracker | GithubTracker;
export type TrackerChoice = ConfiguredTracker | { provider: undefined; why: string; remedy: string };

/** As people call it: `GitHub (acme/web)`; null: the project has none. */
export function trackerName(chosen: TrackerChoice): string | null {
  if (chosen.provider === undefined) return null;
  const [vendor, place] =
    chosen.provider === 'github' ? ['GitHub', chosen.teamId] : ['Linear', chosen.teamKey];
  return place === undefined ? vendor : `${vendor} (${place})`;
}

export const DEFAULT_PREFIX = 'GH';

export function trackerOf(config: Config): TrackerChoice {
  const { apiToken: token, teamId, githubProject, stateMap } = config.svc.tracker;
  if (providerOf(config.svc.tracker) === 'github') return githubOf(config, githubProject, stateMap);
  if (token !== undefined) return { provider: 'linear', token, teamKey: ticketPrefixOf(config), teamId };
  return {
    provider: undefined,
    why: 'svc.tracker.apiToken is not set',
    remedy: 'Store one: svc config set svc.tracker.apiToken - < token.txt',
  };
}

/** The configured one; else that whose settings are there. */
export function providerOf(
  tracker: Partial<Record<'provider' | 'teamKey' | 'apiToken' | 'githubProject', unknown>>,
): 'linear' | 'github' | undefined {
  const { provider, teamKey, apiToken, githubProject } = tracker;
  if (provider === 'linear' || provider === 'github') return provider;
  if (teamKey !== undefined || apiToken !== undefined) return 'linear';
  return githubProject === undefined ? undefined : 'github';
}

function githubOf({ svc }: Config, project: string | undefined, stateMap: StateMap): TrackerChoice {
  const repo = `${svc.repository.org ?? ''}/${svc.repository.name ?? ''}`;
  if (repoNameIn(repo) === undefined)
    return {
      provider: undefined,
      why: 'svc.repository.org and svc.repository.name do not name the repository whose issues are the tickets',
      remedy: 'Run: svc config set svc.repository.org <owner> && svc config set svc.repository.name <name>',
    };
  return {
    provider: 'github',
    teamKey: svc.project.ticketPrefix ?? DEFAULT_PREFIX,
    teamId: repo,
    project: project === undefined ? undefined : githubProjectIn(project),
    stateMap,
  };
}

/** Whether its tickets are at a tracker, also when that cannot be asked because a setting is missing. */
export function hasTracker({ svc }: Config): boolean {
  return providerOf(svc.tracker) !== undefined;
}

/** The `ABC` of `ABC-12`; undefined if the project has no tickets. */
export function ticketPrefixOf({ svc }: Config): string | undefined {
  return prefixBy(svc.project.ticketPrefix, svc.tracker);
}

export function prefixBy(
  ticketPrefix: string | undefined,
  tracker: { teamKey?: string | undefined } & Parameters<typeof providerOf>[0],
): string | undefined {
  if (ticketPrefix !== undefined) return ticketPrefix;
  return providerOf(tracker) === 'github' ? DEFAULT_PREFIX : tracker.teamKey;
}

/** The prefixes, in capitals, that several projects use for tickets at different places: nobody can tell them apart. */
export function sharedPrefixes(configs: readonly Config[]): Set<string> {
  const places = new Map<string, string>();
  const shared = new Set<string>();
  for (const config of configs) {
    const chosen = trackerOf(config);
    const prefix = ticketPrefixOf(config)?.toUpperCase();
    if (chosen.provider === undefined || prefix === undefined) continue;
    const place = chosen.provider === 'github' ? repoKey(chosen.teamId) : prefix;
    if ((places.get(prefix) ?? place) !== place) shared.add(prefix);
    places.set(prefix, place);
  }
  return shared;
}

/** The repositories whose issues are tickets. */
export function trackedRepos(configs: readonly Config[]): GithubTracker[] {
  const shared = sharedPrefixes(configs);
  const repos = new Map<string, GithubTracker>();
  for (const chosen of configs.map(trackerOf)) {
    if (chosen.provider !== 'github' || shared.has(chosen.teamKey.toUpperCase())) continue;
    if (!repos.has(repoKey(chosen.teamId))) repos.set(repoKey(chosen.teamId), chosen);
  }
  return [...repos.values()];
}

export function trackedRepo(
  repos: readonly GithubTracker[],
  repo: string | undefined,
): GithubTracker | undefined {
  return repo === undefined ? undefined : repos.find(({ teamId }) => repoKey(teamId) === repoKey(repo));
}

// How people write tickets.

const ticketPattern = /^[A-Za-z0-9]+-[0-9]+$/;
const LONGEST_TICKET = 60;
const issueNumber = /^#(\d{1,9})$/;
const issueUrl = /^https?:\/\/[^/\s]+\/([^/\s]+\/[^/\s]+)\/issues\/(\d{1,9})(?:[?#]\S*)?$/;

/**
 * A ticket's id as the tracker writes it, in capitals; undefined if it cannot be one. `#12` is an issue of the only
 * repository among the projects, and the address of an issue that of the project with that repository.
 */
export function ticketWritten(text: string, projects: readonly Config[] = []): string | undefined {
  if (text.length <= LONGEST_TICKET && ticketPattern.test(text)) return text.toUpperCase();
  const tracked = trackedRepos(projects);
  const [, number] = issueNumber.exec(text) ?? [];
  const [, repo, issue] = issueUrl.exec(text) ?? [];
  const owner = number !== undefined && tracked.length === 1 ? tracked[0] : trackedRepo(tracked, repo);
  return owner && `${owner.teamKey.toUpperCase()}-${number ?? issue}`;
}
