// Whether a repository's merges need a verified deployment. It is a fold of what the projects' files have said, not a
// reading of the files: once a project requires proof for a repository, that stays, until a valid file of the same project
// sets `skipDeployVerification` to true for it, or a person relaxes it. A file, key, list or folder that is gone relaxes
// nothing. Of several projects that name a repository the strictest counts. A repository that no project ever named skips
// the verification, as long as every project can be read; while one cannot, its policy is unknown and its merges wait.

import { repoKey } from '@svc/contract/repo-name';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import type { Config } from '../config.ts';
import { ticketPrefixOf } from '../tracker/tracker-of.ts';
import type { DeployPolicy } from '../workers/deploy-fields.ts';
import { defaultDeployPolicy } from '../workers/deploy-fields.ts';

export const unknownDeployPolicy: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: null };

/** Environment names are case-insensitive, as on the code host. */
export function isSameEnvironment(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

// What the configuration of one project says now.

export type ProjectPolicies = {
  /** By `repoKey`. */
  deploy: Record<string, DeployPolicy>;
  /** Repositories for which its valid file sets `skipDeployVerification` to true, by `repoKey`. */
  relaxes: string[];
  /** `unknown` if part of its configuration cannot be read. */
  others: 'default' | 'unknown';
  /** The prefix of its tickets, and its repository, if it names one. */
  tickets?: { prefix: string; repo?: string | undefined };
};

declare module '../../kernel/config/configuration.ts' {
  interface Applied extends ProjectPolicies {}
}

/**
 * From a project's resolved configuration. An entry with any uncertain value is unknown as a whole. A file with an error may
 * be stricter than before, never laxer: an entry that skips the verification does not count then.
 */
export function policiesOf(
  config: Config,
  values: readonly Pick<ResolvedValue, 'path' | 'value' | 'source' | 'uncertain'>[],
  others: ProjectPolicies['others'],
  /** Whether a file has no error, and entries that were refused for their name. */
  { isValid, misnamed }: { isValid: (file: string) => boolean; misnamed: readonly RefusedEntry[] },
): ProjectPolicies {
  const ofDeploy = values.filter(({ path }) => path[0] === 'svc' && path[1] === 'deploy');
  const uncertain = new Set(ofDeploy.flatMap(({ path, uncertain: isSo }) => (isSo ? [path[2]] : [])));
  const deploy: Record<string, DeployPolicy> = {};
  for (const [repo, policy] of Object.entries(config.svc.deploy)) {
    const entry = uncertain.has(repo) ? { ...policy, skipDeployVerification: null } : policy;
    const before = deploy[repoKey(repo)];
    deploy[repoKey(repo)] = before === undefined ? entry : stricter(before, entry);
  }
  for (const { repo, values: stated } of misnamed) {
    const entry = policyOfRefused(stated);
    deploy[repoKey(repo)] = stricter(deploy[repoKey(repo)] ?? entry, entry);
  }
  for (const { path, source } of ofDeploy)
    if (
      source.kind === 'file' &&
      !isValid(source.file) &&
      deploy[repoKey(path[2] ?? '')]?.skipDeployVerification === true
    )
      delete deploy[repoKey(path[2] ?? '')];
  const relaxes = ofDeploy.flatMap(({ path: [, , repo = '', key], value, source }) => {
    const isGiven = key === 'skipDeployVerification' && value === true && source.kind === 'file';
    return isGiven && isValid(source.file) && deploy[repoKey(repo)]?.skipDeployVerification === true
      ? [repoKey(repo)]
      : [];
  });
  const tickets = ticketsOf(config);
  return { deploy, relaxes, others, ...(tickets && { tickets }) };
}

type RefusedEntry = { repo: string; values: readonly Pick<ResolvedValue, 'path' | 'value'>[] };

/** What it requires counts; that it skips the verification does not. */
function policyOfRefused(stated: RefusedEntry['values']): DeployPolicy {
  const given = Object.fromEntries(stated.map(({ path, value }) => [path[3], value]));
  const isRequired = given['skipDeployVerification'] === false;
  return { ...defaultDeployPolicy, ...given, skipDeployVerification: isRequired ? false : null };
}

function ticketsOf(config: Config): ProjectPolicies['tickets'] {
  const { org, name } = config.svc.repository;
  const prefix = ticketPrefixOf(config);
  if (prefix === undefined) return undefined;
  const repo = org === undefined || name === undefined ? undefined : repoKey(`${org}/${name}`);
  return { prefix: prefix.toUpperCase(), ...(repo !== undefined && { repo }) };
}

/** Required is stricter than unknown, and unknown is stricter than skipped. */
export function stricter(one: DeployPolicy, other: DeployPolicy): DeployPolicy {
  const [strict, lax] = rank(other) > rank(one) ? [other, one] : [one, other];
  return {
    ...strict,
    acceptDescendants: strict.acceptDescendants && (rank(lax) < 2 || lax.acceptDescendants),
  };
}

function rank({ skipDeployVerification: skip }: DeployPolicy): number {
  return skip === false ? 2 : skip === null ? 1 : 0;
}

// What the log says about one repository that a project has required proof for.

type Since = { at: string; seq: number };

/** A project that requires proof, with the policy that it stated last. */
type Requirement = { project: string; policy: DeployPolicy } & Since;

export type RepoPolicy = {
  repo: string;
  /** In the order in which they began to require it; empty once all have been relaxed. */
  requiredBy: Requirement[];
  /** The last relaxation, with the policy that earlier merges keep. */
  relaxed: ({ by: string; policy: DeployPolicy } & Since) | null;
  /** The prefixes of the tickets of all projects that ever required it: they stay when a project is no longer served. */
  prefixes: string[];
};

/** The repository's state after a project's configuration was applied; the same object if nothing changed. */
export function afterApplied(
  known: RepoPolicy | undefined,
  repo: string,
  project: string,
  { deploy, relaxes, tickets }: Pick<ProjectPolicies, 'deploy' | 'relaxes' | 'tickets'>,
  since: Since,
): RepoPolicy | undefined {
  const stated = deploy[repo];
  const before = known?.requiredBy.find((one) => one.project === project);
  if (stated === undefined || (stated.skipDeployVerification !== false && before === undefined)) return known;
  if (relaxes.includes(repo)) return known && withoutRequirements(known, [project], project, since);
  // An entry without the key itself, or an uncertain one, changes the other values at most.
  const policy =
    stated.skipDeployVerification === null && before
      ? before.policy
      : { ...stated, skipDeployVerification: false };
  const prefixes = [...new Set([...(known?.prefixes ?? []), ...(tickets ? [tickets.prefix] : [])])];
  if (known && before && isSamePolicy(before.policy, policy))
    return prefixes.length === known.prefixes.length ? known : { ...known, prefixes };
  const requirement: Requirement = before ? { ...before, policy } : { project, policy, ...since };
  const others = known?.requiredBy.filter((one) => one.project !== project) ?? [];
  const requiredBy = [...others, requirement].toSorted((one, other) => one.seq - other.seq);
  return { repo, relaxed: known?.relaxed ?? null, requiredBy, prefixes };
}

/** A person relaxes it: what the files of served projects require right now stays. */
export function afterRelaxed(
  known: RepoPolicy,
  projects: ReadonlyMap<string, ProjectPolicies>,
  by: string,
  since: Since,
): RepoPolicy {
  const gone = known.requiredBy.filter(({ project }) => !requiresNow(projects.get(project), known.repo));
  return withoutRequirements(
    known,
    gone.map(({ project }) => project),
    by,
    since,
  );
}

export function requiresNow(project: ProjectPolicies | undefined, repo: string): boolean {
  return project?.deploy[repo]?.skipDeployVerification === false;
}

function withoutRequirements(
  known: RepoPolicy,
  projects: readonly string[],
  by: string,
  since: Since,
): RepoPolicy {
  const requiredBy = known.requiredBy.filter(({ project }) => !projects.includes(project));
  if (requiredBy.length === known.requiredBy.length) return known;
  const policy = strictest(known.requiredBy) ?? unknownDeployPolicy;
  const relaxed = requiredBy.length > 0 ? known.relaxed : { by, policy, ...since };
  return { ...known, requiredBy, relaxed };
}

/** The policy of the first that required it; a descendant counts only if all accept that. */
function strictest(requirements: readonly Requirement[]): DeployPolicy | undefined {
  return requirements
    .map(({ policy }) => policy)
    .reduce<DeployPolicy | undefined>(
      (first, policy) => (first ? stricter(first, policy) : policy),
      undefined,
    );
}

export function isSamePolicy(one: DeployPolicy, other: DeployPolicy): boolean {
  return (
    one.timeoutSec === other.timeoutSec &&
    one.productionEnvironment === other.productionEnvironment &&
    one.stagingEnvironment === other.stagingEnvironment &&
    one.skipDeployVerification === other.skipDeployVerification &&
    one.acceptDescendants === other.acceptDescendants
  );
}

// The policy that holds.

export type PolicyFacts = {
  projects: ReadonlyMap<string, ProjectPolicies>;
  policies: ReadonlyMap<string, RepoPolicy>;
};

/** For this merge, or for one that is still to come: a relaxation holds for later merges only. */
export function deployPolicyFor(
  { projects, policies }: PolicyFacts,
  repo: string | null | undefined,
  merge?: Since | null,
): DeployPolicy {
  const key = repoKey(repo ?? '');
  const known = policies.get(key);
  const required = strictest(known?.requiredBy ?? []);
  if (required !== undefined) return required;
  if (known?.relaxed && merge && isBefore(merge, known.relaxed)) return known.relaxed.policy;
  const stated = [...projects.values()].flatMap(({ deploy }) => deploy[key] ?? []);
  const [first, ...others] = stated;
  if (first !== undefined) return others.reduce(stricter, first);
  return unreadable(projects).length > 0 ? unknownDeployPolicy : defaultDeployPolicy;
}

/** It may have happened before, and become known afterwards. */
function isBefore(merge: Since, relaxed: Since): boolean {
  return merge.seq < relaxed.seq || Date.parse(merge.at) < Date.parse(relaxed.at);
}

/**
 * For work on a ticket in a repository. One that no project names is as strict as the project of the ticket: its agent may
 * work anywhere.
 */
export function deployPolicyForWork(
  facts: PolicyFacts,
  repo: string | null,
  ticket: string | null,
  merge?: Since | null,
): DeployPolicy {
  const own = deployPolicyFor(facts, repo, merge);
  if (ticket === null || isNamed(facts, repo)) return own;
  // A project that cannot be read now may name it: the merge waits until that is known.
  if (own.skipDeployVerification === null) return own;
  return stricter(own, deployPolicyForTicket(facts, ticket, { anyRepo: true, merge }));
}

function isNamed({ projects, policies }: PolicyFacts, repo: string | null): boolean {
  const key = repoKey(repo ?? '');
  return policies.has(key) || [...projects.values()].some(({ deploy }) => deploy[key] !== undefined);
}

/**
 * For a ticket as such: the strictest of the repositories of the projects with its prefix. As long as no worker and no pull
 * request is known of, it may be of any repository that such a project names or has required proof for; and of an unknown
 * one, while a project cannot be read.
 */
export function deployPolicyForTicket(
  facts: PolicyFacts,
  ticket: string,
  { anyRepo, merge }: { anyRepo: boolean; merge?: Since | null | undefined },
): DeployPolicy {
  const prefix = ticket.slice(0, ticket.lastIndexOf('-')).toUpperCase();
  const projects = [...facts.projects.values()].filter(({ tickets }) => tickets?.prefix === prefix);
  const own = projects.flatMap(({ tickets }) => tickets?.repo ?? []);
  const named = projects.flatMap(({ deploy }) => Object.keys(deploy));
  const required = [...facts.policies.values()].filter(({ prefixes }) => prefixes.includes(prefix));
  const repos = anyRepo ? [...own, ...named, ...required.map(({ repo }) => repo)] : own;
  const isOfUnknown = anyRepo && repos.length === 0 && unreadable(facts.projects).length > 0;
  return repos
    .map((repo) => deployPolicyFor(facts, repo, merge))
    .reduce(stricter, isOfUnknown ? unknownDeployPolicy : defaultDeployPolicy);
}

/** The projects, or the list of them, whose configuration cannot be read. */
export function unreadable(projects: PolicyFacts['projects']): string[] {
  return [...projects].flatMap(([project, { others }]) => (others === 'unknown' ? [project] : []));
}
