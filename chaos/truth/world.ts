// Makes a random world from a seed: projects and their files, workers and their agents, a code host and its deliveries,
// persons, helpers and restarts, mixed step by step. The same seed gives the same world.
import { createRandom, type Random } from '../../packages/testkit/src/random.ts';
import type { Fact, FactContent, PolicyEntry, ProjectFile, Step, World } from './steps.ts';
import { type CodehostActions, createCodehostActions } from './world-codehost.ts';

export interface WorldNames {
  repository: (index: number) => string;
  project: (index: number) => string;
  ticket: (index: number) => string;
  run: (index: number) => string;
  /** Facts, pull requests and deployments count from here. */
  firstNumber: number;
}
const plainNames: WorldNames = {
  repository: (index) => ['acme/web', 'acme/api.js'][index] ?? `acme/repository-${index}`,
  project: (index) => `project-${index + 1}`,
  ticket: (index) => `ABC-${index + 1}`,
  run: (index) => `run-${index + 1}`,
  firstNumber: 1,
};

/** `isShared`: other worlds use the same daemon, so the clock and the global file are left alone. */
export interface WorldOptions {
  names?: WorldNames;
  isShared?: boolean;
}

interface Plan {
  name: string;
  /** What a good file says about the repositories that it names. */
  deploy: Record<string, PolicyEntry>;
  isListed: boolean;
  isMounted: boolean;
  file: ProjectFile | null;
}
interface PlannedWorker {
  run: string;
  ticket: string;
  repository: CodehostActions;
  branch: string | null;
  hasPullRequest: boolean;
}

export function createWorld(
  seed: number,
  { names = plainNames, isShared = false }: WorldOptions = {},
): World {
  const random = createRandom(seed);
  const steps: Step[] = [];
  /** Facts whose delivery is late. */
  let late: number[] = [];
  let facts = names.firstNumber;
  let number = names.firstNumber;
  const environments = new Map<string, string>();
  const repositories = Array.from({ length: random.chance(0.6) ? 1 : 2 }, (_, index) => {
    const repository = names.repository(index);
    environments.set(repository, random.chance(0.75) ? 'production' : 'live');
    return createCodehostActions({
      repository,
      random,
      environment: () => environments.get(repository) ?? 'production',
      nextNumber: () => (number += 1),
    });
  });
  const projects = planProjects(random, repositories, environments, names);
  // In most worlds the files rest: reading them takes most of the time.
  const unrest = random.chance(0.3) ? 1 : 0.2;
  const workers: PlannedWorker[] = [];
  const tickets = Array.from({ length: 1 + random.below(3) }, (_, index) => names.ticket(index));

  function happen(contents: readonly FactContent[]): void {
    for (const content of contents) {
      facts += 1;
      const fact: Fact = { fact: facts, ...content };
      steps.push(fact);
      if (content.do === 'commit') continue;
      const kind = random.next();
      if (kind < 0.74) steps.push({ do: 'deliver', fact: facts });
      else if (kind < 0.86) late.push(facts);
      else if (kind < 0.93) {
        steps.push({ do: 'deliver', fact: facts });
        late.push(facts);
      }
    }
  }

  function startWorker(): void {
    const ticket = random.pick(tickets);
    const known = workers.filter((worker) => worker.ticket === ticket);
    if (known.length >= 2) return;
    const repository = known[0]?.repository ?? random.pick(repositories);
    const kind = random.next();
    const branch =
      kind < 0.55 ? `${ticket}-work` : kind < 0.9 ? `topic/${ticket.toLowerCase().replace('-', 'x')}` : null;
    const run = names.run(known.length);
    workers.push({ run, ticket, repository, branch, hasPullRequest: false });
    steps.push({ do: 'worker', run, ticket, repository: repository.repository, branch });
  }

  function openPullRequest(): void {
    const kind = random.next();
    // Most workers have one pull request: with several it is often left open which one counts.
    const idle = workers.filter((worker) => !worker.hasPullRequest || random.chance(0.1));
    const worker = idle.length > 0 ? random.pick(idle) : undefined;
    if (worker === undefined || kind < 0.1) {
      const repository = random.pick(repositories);
      const ticket = random.chance(0.2) ? random.pick(tickets) : null;
      happen(repository.openFor({ branch: `other/${random.below(5)}`, ticket }));
    } else if (kind < 0.2) {
      const branch = worker.branch ?? 'topic/fork';
      const from = random.chance(0.5) ? ('fork' as const) : ('deleted-fork' as const);
      happen(worker.repository.openFor({ branch, ticket: null, from }));
    } else if (worker.branch === null || kind < 0.27) {
      worker.hasPullRequest = true;
      happen(worker.repository.openFor({ branch: `other/${random.below(5)}`, ticket: worker.ticket }));
    } else {
      worker.hasPullRequest = true;
      const ticket = random.chance(0.5) ? worker.ticket : null;
      happen(worker.repository.openFor({ branch: worker.branch, ticket }));
    }
  }

  function claim(): void {
    if (workers.length === 0) return;
    const { run, ticket, repository } = random.pick(workers);
    const numbers = repository.numbers();
    const elsewhere = random.pick(repositories);
    const { branch } = random.pick(workers);
    steps.push({
      do: 'claim',
      run,
      ticket,
      ...(random.chance(0.6) && { status: random.pick(['done', 'merged', 'shipping'] as const) }),
      ...(numbers.length > 0 && random.chance(0.6) && { pullRequest: random.pick(numbers) }),
      ...(random.chance(0.15) && { repository: elsewhere.repository }),
      ...(branch !== null && random.chance(0.2) && { branch }),
      ...(random.chance(0.2) && { earlier: true }),
    });
  }

  function lie(): void {
    if (workers.length === 0) return;
    const { run, ticket, repository } = random.pick(workers);
    const [merges, commits] = [repository.merges(), repository.commits()];
    if (merges.length === 0) return;
    steps.push({
      do: 'lie',
      topic: random.pick([
        'contained',
        'contained',
        'succeeded',
        'accepted',
        'merged',
        'status',
        'policy',
        'worker-done',
      ] as const),
      repository: repository.repository,
      run,
      ticket,
      merge: random.pick(merges),
      commit: random.pick(commits),
    });
  }

  function decide(): void {
    if (workers.length === 0) return;
    const { run, ticket, repository } = random.pick(workers);
    const kind = random.next();
    if (kind < 0.15) steps.push({ do: 'accept', run, ticket });
    else if (kind < 0.6) steps.push({ do: 'retry', run, ticket });
    else if (kind < 0.8) steps.push({ do: 'relax', repository: repository.repository });
    else steps.push({ do: 'phase', ticket });
  }

  function deliverLate(): void {
    if (late.length === 0) return;
    const fact = random.pick(late);
    late = late.filter((other) => other !== fact);
    steps.push({ do: 'deliver', fact });
  }

  const repository = (): CodehostActions => random.pick(repositories);
  const actions: [weight: number, act: () => void][] = [
    [5, startWorker],
    [12, openPullRequest],
    [14, () => happen(repository().merge())],
    [8, () => happen(repository().ship())],
    [1, () => happen(repository().close())],
    [4, () => happen(repository().commit())],
    [3, () => happen(repository().revert())],
    [3, () => happen(repository().release())],
    [8, () => happen(repository().deploy())],
    [12, () => happen(repository().status())],
    [7, deliverLate],
    [9 * unrest, () => changeProject(random, projects, environments, steps)],
    ...(isShared ? [] : [[4 * unrest, () => changeGlobal(random, steps)] as [number, () => void]]),
    [5, claim],
    [3, lie],
    [3, decide],
    [2, () => steps.push({ do: 'poll' })],
    [3 * unrest, () => steps.push({ do: 'restart' })],
    ...(isShared
      ? []
      : [
          [2, () => steps.push({ do: 'wait', seconds: random.pick([60, 600, 2_000]) })] as [
            number,
            () => void,
          ],
        ]),
  ];
  const total = actions.reduce((sum, [weight]) => sum + weight, 0);

  for (const project of random.shuffled(projects)) {
    const both: Step[] = [
      { do: 'file', project: project.name, folder: '.svc', file: project.file },
      { do: 'list', project: project.name, isListed: true },
    ];
    // A folder may be listed before it has its file, or before its disk is mounted.
    if (random.chance(0.06)) {
      project.isMounted = false;
      steps.push({ do: 'mount', project: project.name, isThere: false });
    }
    steps.push(...(random.chance(0.85) ? both : both.toReversed()));
  }
  const length = steps.length + 22 + random.below(36);
  startWorker();
  while (steps.length < length) {
    let weight = random.next() * total;
    for (const [share, act] of actions) {
      weight -= share;
      if (weight >= 0) continue;
      act();
      break;
    }
  }
  // What waited for a file goes on when the file is back.
  if (isShared || random.chance(0.5)) {
    if (!isShared) steps.push({ do: 'global', file: 'good' });
    for (const plan of projects) repair(plan, steps);
  }
  steps.push({ do: 'restart' }, { do: 'poll' });
  return { seed, steps };
}

function planProjects(
  random: Random,
  repositories: readonly CodehostActions[],
  environments: ReadonlyMap<string, string>,
  names: WorldNames,
): Plan[] {
  const plans: Plan[] = [];
  for (const { repository } of repositories) {
    // Some repositories are named by no project.
    if (random.chance(0.12)) continue;
    const clones = random.chance(0.35) ? 2 : 1;
    for (let clone = 0; clone < clones; clone += 1) {
      const environment = environments.get(repository);
      const kind = random.next();
      const skip = kind < (clone === 0 ? 0.75 : 0.3) ? false : kind < 0.85 ? true : undefined;
      const entry: PolicyEntry = {
        ...(skip !== undefined && { skip }),
        ...(environment !== undefined && environment !== 'production' && { environment }),
      };
      const deploy: Record<string, PolicyEntry> =
        clone > 0 && random.chance(0.3) ? {} : { [keyNear(random, repository)]: entry };
      // The same repository twice, once lax: the names differ only in case.
      if (random.chance(0.02)) deploy[capitals(repository)] = { skip: true };
      const file: ProjectFile = random.chance(0.93) ? { kind: 'valid', deploy } : damaged(random, deploy);
      plans.push({ name: names.project(plans.length), deploy, isListed: true, isMounted: true, file });
    }
  }
  return plans;
}

/** The name of the repository as a person may write it. */
function keyNear(random: Random, repository: string): string {
  const kind = random.next();
  if (kind < 0.88) return repository;
  return kind < 0.97 ? repository.toUpperCase() : `${repository}.git`;
}

function capitals(repository: string): string {
  return repository.replace('acme', 'Acme');
}

function damaged(random: Random, deploy: Record<string, PolicyEntry>): ProjectFile {
  const kind = random.next();
  if (kind < 0.4) return { kind: 'cut' };
  if (kind < 0.6) return { kind: 'empty' };
  return { kind: 'refused', deploy };
}

function changeProject(
  random: Random,
  projects: readonly Plan[],
  environments: Map<string, string>,
  steps: Step[],
): void {
  if (projects.length === 0) return;
  const plan = random.pick(projects);
  const { name: project, deploy } = plan;
  const write = (file: ProjectFile | null): void => {
    plan.file = file;
    steps.push({ do: 'file', project, folder: '.svc', file });
  };
  const good: ProjectFile = { kind: 'valid', deploy };
  // What was damaged is often repaired next.
  const isWhole = plan.file?.kind === 'valid' && plan.isMounted && plan.isListed;
  if (!isWhole && random.chance(0.5)) {
    repair(plan, steps);
    return;
  }
  const kind = random.next();
  if (kind < 0.2) write(damaged(random, deploy));
  else if (kind < 0.32) write({ kind: 'valid', deploy: random.chance(0.5) ? null : {} });
  else if (kind < 0.42) write(null);
  else if (kind < 0.52) {
    steps.push({
      do: 'file',
      project,
      folder: '.claude',
      file: { kind: 'valid', deploy: random.chance(0.7) ? null : relaxed(deploy) },
    });
    write(null);
  } else if (kind < 0.64) {
    plan.isMounted = !plan.isMounted;
    steps.push({ do: 'mount', project, isThere: plan.isMounted });
  } else if (kind < 0.72) {
    plan.isListed = !plan.isListed;
    steps.push({ do: 'list', project, isListed: plan.isListed });
  } else if (kind < 0.82) write({ kind: 'valid', deploy: relaxed(deploy) });
  else if (kind < 0.88) correctEnvironment(random, projects, environments, plan, write);
  else write(good);
}

function repair(plan: Plan, steps: Step[]): void {
  const { name: project, deploy } = plan;
  if (!plan.isMounted) steps.push({ do: 'mount', project, isThere: true });
  if (!plan.isListed) steps.push({ do: 'list', project, isListed: true });
  if (plan.file?.kind !== 'valid')
    steps.push({ do: 'file', project, folder: '.svc', file: { kind: 'valid', deploy } });
  plan.isMounted = true;
  plan.isListed = true;
  plan.file = { kind: 'valid', deploy };
}

function relaxed(deploy: Record<string, PolicyEntry>): Record<string, PolicyEntry> {
  return Object.fromEntries(Object.entries(deploy).map(([key, entry]) => [key, { ...entry, skip: true }]));
}

/** Only where one project names the repository: which of several names counts is not settled. */
function correctEnvironment(
  random: Random,
  projects: readonly Plan[],
  environments: Map<string, string>,
  plan: Plan,
  write: (file: ProjectFile) => void,
): void {
  const [key] = Object.keys(plan.deploy);
  if (key === undefined) return;
  const repository = key.toLowerCase().replace(/\.git$/, '');
  const naming = projects.filter(({ deploy }) =>
    Object.keys(deploy).some((other) => other.toLowerCase() === repository),
  );
  if (naming.length !== 1) return;
  const environment = random.pick(['production', 'live', 'prod']);
  environments.set(repository, environment);
  plan.deploy = { [key]: { ...plan.deploy[key], environment } };
  write({ kind: 'valid', deploy: plan.deploy });
}

function changeGlobal(random: Random, steps: Step[]): void {
  const file = random.pick(['good', 'good', 'good', 'misspelt', 'cut', 'empty', 'gone'] as const);
  steps.push({ do: 'global', file });
}
