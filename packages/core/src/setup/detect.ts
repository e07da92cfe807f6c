// Which repository a checkout is of, and what its project would be called, as far as git can tell.

import { z } from 'zod';
import { kinds } from '../config/field.ts';
import type { Config } from '../config/schema/config.ts';
import { nearest } from '../nearest.ts';
import { remoteParts } from '../orchestrate/setup-variables.ts';
import type { WorkflowState } from '../tracker/api-answer.ts';

/** Whose remote is looked at first. */
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

/** A key for the project: the repository's name, as far as a key may be written so. */
export function projectKeyFor(repository: string): string {
  const name = repository.split('/').at(-1) ?? '';
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return plain === '' ? 'project' : plain.slice(0, 100);
}

// Which deployment environment gates "done", judged by what the repository has deployed so far.

/** What is read of the code host's list of deployments; newest first. */
const Deployments = z.array(
  z.object({
    environment: z.string().min(1),
    transient_environment: z.boolean().optional(),
    production_environment: z.boolean().optional(),
  }),
);

export type DeployEnvironment = { name: string; production: boolean };

/** The environments of a list of deployments that last, each once, newest first; none when it cannot be read. */
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

/** The one that people see: by its name, else by what the code host says. Undefined where nobody can tell. */
export function productionAmong(environments: readonly DeployEnvironment[]): string | undefined {
  const byName = ['production', 'prod', 'live'].flatMap((word) =>
    environments.filter(({ name }) => name.toLowerCase() === word),
  );
  const marked = environments.filter(({ production }) => production);
  return (byName[0] ?? marked[0])?.name;
}

/** A slip of the pen, told in words; an environment that is only new is no slip. */
export function environmentSlip(
  name: string,
  environments: readonly DeployEnvironment[],
): string | undefined {
  const names = environments.map((environment) => environment.name);
  const likely = names.includes(name) ? undefined : nearest(name, names);
  if (likely === undefined) return undefined;
  return `The repository has no deployments to ${name}. Is it ${likely}? There are: ${names.join(', ')}.`;
}

function isPreview(name: string): boolean {
  return /\bpreview\b/i.test(name);
}

// Which of a team's workflow states belongs to which phase. The usual names count first; a team that calls its
// states otherwise is read by their types and places. A phase that nothing fits keeps what it has.

type StateMap = Config['svc']['tracker']['stateMap'];
type Phase = keyof StateMap;

/** By the tracker's types of states. A team may have no state of review: then its work stays in progress. */
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

/** The phases whose state the team does not have, each with the one that it has instead. */
export function fittingStates(stateMap: StateMap, states: readonly WorkflowState[]): Partial<StateMap> {
  const sorted = states.toSorted((one, other) => one.position - other.position);
  const names = new Set(sorted.map(({ name }) => name));
  const changes = (Object.keys(phaseKinds) as Phase[]).flatMap((phase) => {
    const current = stateMap[phase];
    // Null is a choice: no transition.
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
