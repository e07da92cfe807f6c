// The repository of a checkout and a name for its project, as far as git knows.
import { nearest } from '@svc/lib/nearest';
import { z } from 'zod';
import { kinds } from '../../kernel/config/field.ts';
import type { Config } from '../config.ts';
import { remoteParts } from '../context/setup-variables.ts';
import type { WorkflowState } from '../tracker/api-answer.ts';

/** The remotes in order of preference. */
const preferred = ['origin', 'upstream'];

/** `owner/name`, from the output of `git config --get-regexp ^remote\..*\.url$`. */
export function repositoryInRemotes(output: string): string | undefined {
  const remotes = output.split('\n').flatMap((line) => {
    const [, name, url] = /^remote\.(.+)\.url (.+)$/.exec(line) ?? [];
    const parts = remoteParts(url);
    const slug = parts && `${parts.owner}/${parts.name}`;
    return name !== undefined && kinds.repo.schema.safeParse(slug).success ? [{ name, slug }] : [];
  });
  return remotes.toSorted((one, other) => place(one.name) - place(other.name))[0]?.slug;
}

function place(remote: string): number {
  const index = preferred.indexOf(remote);
  return index === -1 ? preferred.length : index;
}

/** A key for the project: the repository's name, reduced to the characters that a key may have. */
export function projectKeyFor(repository: string): string {
  const name = repository.split('/').at(-1) ?? '';
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return plain === '' ? 'project' : plain.slice(0, 100);
}

// Which deployment environment gates "done", judged by the repository's deployments so far.

/** The fields used from the code host's list of deployments; newest first. */
const Deployments = z.array(
  z.object({
    environment: z.string().min(1),
    transient_environment: z.boolean().optional(),
    production_environment: z.boolean().optional(),
  }),
);

export type DeployEnvironment = { name: string; production: boolean };

/** The non-transient environments in a list of deployments, each once, newest first; none if it cannot be read. */
export function environmentsIn(deployments: unknown): DeployEnvironment[] {
  const read = Deployments.safeParse(deployments);
  const found = new Map<string, DeployEnvironment>();
  for (const { environment, ...flags } of read.success ? read.data : []) {
    if (flags.transient_environment === true || isPreview(environment)) continue;
    const production = flags.production_environment === true || found.get(environment)?.production === true;
    found.set(environment, { name: environment, production });
  }
  return [...found.values()];
}

/** The production environment: by its name, else by the code host's mark. Undefined if neither decides. */
export function productionAmong(environments: readonly DeployEnvironment[]): string | undefined {
  const byName = ['production', 'prod', 'live'].flatMap((word) =>
    environments.filter(({ name }) => name.toLowerCase() === word),
  );
  const marked = environments.filter(({ production }) => production);
  return (byName[0] ?? marked[0])?.name;
}

/** A message about a likely typo; an environment that is merely new is not one. */
export function environmentSlip(
  name: string,
  environments: readonly DeployEnvironment[],
): string | undefined {
  const names = environments.map((environment) => environment.name);
  const likely = names.includes(name) ? undefined : nearest(name, names);
  if (likely === undefined) return undefined;
  return `The repository has no deployments to ${name}. Did you mean ${likely}? It has deployments to: ${names.join(', ')}.`;
}

function isPreview(name: string): boolean {
  return /\bpreview\b/i.test(name);
}

// Maps a team's workflow states to phases. The usual names come first; other names are matched by the states' types and
// positions. A phase without a matching state keeps its value.

type StateMap = Config['svc']['tracker']['stateMap'];
type Phase = keyof StateMap;

/** By the tracker's state types. If a team has no review state, its work stays in progress. */
const phaseKinds: Readonly<
  Record<Phase, { types: readonly string[]; words?: RegExp; from: 'first' | 'last' }>
> = {
  backlog: { types: ['backlog', 'triage', 'unstarted'], from: 'first' },
  todo: { types: ['unstarted', 'backlog'], from: 'first' },
  research: { types: ['started'], from: 'first' },
  planning: { types: ['started'], from: 'first' },
  inProgress: { types: ['started'], from: 'first' },
  inReview: { types: ['started'], words: /review|\bqa\b|approv/i, from: 'last' },
  done: { types: ['completed'], from: 'first' },
  canceled: { types: ['canceled'], from: 'first' },
};

/** The phases whose configured state the team does not have, each with the matching one. */
export function fittingStates(stateMap: StateMap, states: readonly WorkflowState[]): Partial<StateMap> {
  const sorted = states.toSorted((one, other) => one.position - other.position);
  const names = new Set(sorted.map(({ name }) => name));
  const changes = (Object.keys(phaseKinds) as Phase[]).flatMap((phase) => {
    const current = stateMap[phase];
    // Null is a deliberate choice: no transition.
    if (current === null || names.has(current)) return [];
    const fitting = fittingState(phase, current, sorted);
    return fitting === undefined ? [] : [[phase, fitting] as const];
  });
  return Object.fromEntries(changes);
}

function fittingState(phase: Phase, current: string, states: readonly WorkflowState[]): string | undefined {
  const sameWord = states.find(({ name }) => name.toLowerCase() === current.toLowerCase());
  if (sameWord !== undefined) return sameWord.name;
  const { types, words, from } = phaseKinds[phase];
  for (const type of types) {
    const ofType = states.filter((state) => state.type === type);
    const named = words === undefined ? undefined : ofType.find(({ name }) => words.test(name));
    const found = named ?? (from === 'first' ? ofType[0] : ofType.at(-1));
    if (found !== undefined) return found.name;
  }
  return undefined;
}
