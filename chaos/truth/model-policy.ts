// What may be said at a moment about a repository: does it require proof, and in which environment. Written from the
// specification and the rules of the ratchet alone. Where the rules do not decide, a judgement is possible but not certain,
// and the comparison takes either answer.
import type { PolicyEntry, ProjectFile, Step } from './steps.ts';

/** `isCertain` implies `isPossible`. */
export interface Judgement {
  isCertain: boolean;
  isPossible: boolean;
}
export const no: Judgement = { isCertain: false, isPossible: false };
export const perhaps: Judgement = { isCertain: false, isPossible: true };
export const yes: Judgement = { isCertain: true, isPossible: true };
export function anyOf(judgements: Iterable<Judgement>): Judgement {
  let isCertain = false;
  let isPossible = false;
  for (const judgement of judgements) {
    isCertain ||= judgement.isCertain;
    isPossible ||= judgement.isPossible;
  }
  return { isCertain, isPossible };
}

interface Policy {
  isRequired: Judgement;
  /** Required by the project of the ticket alone: a file that names the repository ends that. */
  isBorrowed: Judgement;
  /** Merges wait until what cannot be read can be read. */
  isUnknown: Judgement;
  /** In small letters; more than one where a file that may count or not names another. */
  environments: ReadonlySet<string>;
}

export function sameName(name: string): string {
  return name.toLowerCase().replace(/\.git$/, '');
}

const usual: ReadonlySet<string> = new Set(['production']);

/** A file that names a repository twice, or as an address, may be refused or understood. */
function isDoubtful(file: ProjectFile): file is Extract<ProjectFile, { kind: 'valid' | 'refused' }> {
  if (file.kind !== 'valid') return false;
  const keys = Object.keys(file.deploy ?? {});
  return keys.some((key) => key.endsWith('.git')) || new Set(keys.map(sameName)).size < keys.length;
}

interface Project {
  svc: ProjectFile | null;
  claude: ProjectFile | null;
  isMounted: boolean;
  isListed: boolean;
  /** It was listed when the list could be read last: while that cannot be read it may still be served. */
  wasListed: boolean;
}
/** What one project has said about one repository. */
interface Stance {
  isRequired: Judgement;
  /** Its newest valid file that names the repository says `false`. */
  saysRequired: boolean;
  /** A file that may be refused or understood says `false`: a person may not relax what it requires. */
  maySayRequired: boolean;
  /** A valid file of it has named the repository; only possible for one that may be refused. */
  isKnown: Judgement;
}

export interface PolicyModel {
  /** False if the step is none of the files. Changes of files count from the next other step on, all at once. */
  apply: (step: Step) => boolean;
  of: (repository: string) => Policy;
}

export function createPolicyModel(): PolicyModel {
  const projects = new Map<string, Project>();
  const stances = new Map<string, Map<string, Stance>>();
  const environments = new Map<string, Set<string>>();
  const ofRefused = new Map<string, Set<string>>();
  let isChanged = false;
  let global: Extract<Step, { do: 'global' }>['file'] = 'good';

  function projectOf(name: string): Project {
    const before = projects.get(name);
    if (before !== undefined) return before;
    const project: Project = { svc: null, claude: null, isMounted: true, isListed: false, wasListed: false };
    projects.set(name, project);
    return project;
  }

  function fileOf(project: Project): { file: ProjectFile | null; isOld: boolean; isDoubtful: boolean } {
    const file = project.isMounted ? (project.svc ?? project.claude) : null;
    const isOld = project.svc === null;
    return file !== null && isDoubtful(file)
      ? { file: { ...file, kind: 'refused' }, isOld, isDoubtful: true }
      : { file, isOld, isDoubtful: false };
  }

  function hear(
    repository: string,
    name: string,
    entry: PolicyEntry,
    { isSure, isRefused }: { isSure: boolean; isRefused: boolean },
  ): void {
    const byProject = stances.get(repository) ?? new Map<string, Stance>();
    stances.set(repository, byProject);
    const stance = byProject.get(name) ?? {
      isRequired: no,
      saysRequired: false,
      maySayRequired: false,
      isKnown: no,
    };
    stance.isKnown = anyOf([stance.isKnown, isSure ? yes : perhaps]);
    byProject.set(name, stance);
    // What is refused may name the environment or not, also the usual one by saying nothing of it.
    if (isRefused && entry.skip === false) {
      const others = ofRefused.get(repository) ?? [];
      ofRefused.set(repository, new Set([...others, (entry.environment ?? 'production').toLowerCase()]));
    } else if (entry.environment !== undefined) {
      // An entry that no longer requires proof may name the environment for earlier merges or not.
      const before = isSure && entry.skip !== true ? [] : (environments.get(repository) ?? usual);
      environments.set(repository, new Set([...before, entry.environment.toLowerCase()]));
    }
    if (entry.skip === false) {
      // After a person has relaxed it, a file that says the same as before is no news: it may count or not.
      const isNews = !stance.saysRequired || stance.isRequired.isCertain;
      stance.isRequired = isSure && isNews ? yes : { ...stance.isRequired, isPossible: true };
      if (isSure) stance.saysRequired = true;
      else stance.maySayRequired = true;
    } else if (entry.skip === true) {
      stance.isRequired = isSure ? no : { isCertain: false, isPossible: stance.isRequired.isPossible };
      if (isSure) stance.saysRequired = false;
    } else if (isSure) stance.saysRequired = false;
  }

  /** Reads every project that can be read, as the daemon does after each change. */
  function read(): void {
    for (const [name, project] of projects) {
      if (global === 'good') project.wasListed = project.isListed;
      const { file, isOld, isDoubtful: mayBeValid } = fileOf(project);
      if (file === null || !(global === 'good' ? project.isListed : project.wasListed)) continue;
      if (file.kind !== 'valid' && file.kind !== 'refused') continue;
      // While the list cannot be read the last good one may still serve: what is new in a file may count or not.
      const isSure = file.kind === 'valid' && global === 'good' && !isOld;
      if (global === 'empty') continue;
      const named = new Set<string>();
      for (const [key, entry] of Object.entries(file.deploy ?? {})) {
        const repository = sameName(key);
        named.add(repository);
        // A refused file may be stricter than before, never laxer; one that may be refused may count as well.
        if (file.kind === 'refused' && entry.skip === true && !mayBeValid) continue;
        // A file in the old place, or a refused one, that says `false` requires proof as any other.
        hear(repository, name, entry, {
          isSure: isSure || (global === 'good' && entry.skip === false),
          isRefused: file.kind === 'refused',
        });
      }
      if (file.kind === 'valid')
        for (const [repository, byProject] of stances) {
          const stance = byProject.get(name);
          if (stance !== undefined && !named.has(repository)) stance.saysRequired = false;
        }
    }
  }

  function unreadable(): Judgement {
    if (global === 'misspelt' || global === 'cut') return yes;
    // A file that is gone is an empty list, or a list that was lost.
    if (global === 'gone') return perhaps;
    if (global === 'empty') return no;
    const kinds = [...projects.values()]
      .filter((project) => project.isListed)
      .map((project) => fileOf(project).file?.kind);
    // A file with a value that is refused can be read: whether the rest of it counts is left open.
    if (kinds.every((kind) => kind === 'valid')) return no;
    return kinds.every((kind) => kind === 'valid' || kind === 'refused') ? perhaps : yes;
  }

  function isRequiredInRefused(repository: string): boolean {
    return [...projects.values()].some((project) => {
      const { file } = fileOf(project);
      const isServed = global === 'good' ? project.isListed : project.wasListed;
      if (!isServed || global === 'empty' || file?.kind !== 'refused') return false;
      return Object.entries(file.deploy ?? {}).some(
        ([key, entry]) => sameName(key) === repository && entry.skip === false,
      );
    });
  }

  /** A valid file that is read for certain names it right now. */
  function isNamedNow(repository: string): boolean {
    return [...projects.values()].some((project) => {
      const { file, isDoubtful: isUncertain, isOld } = fileOf(project);
      if (global !== 'good' || !project.isListed || file?.kind !== 'valid' || isUncertain || isOld)
        return false;
      return Object.keys(file.deploy ?? {}).some((key) => sameName(key) === repository);
    });
  }

  /** All tickets are of all projects: what one requires holds for work in a repository that none names. */
  function ofTickets(repository: string): { isRequired: Judgement; environments: string[] } {
    const others = [...stances].filter(([name]) => name !== repository);
    const isRequired = anyOf(others.flatMap(([, each]) => [...each.values()].map((one) => one.isRequired)));
    const named = others.flatMap(([name]) => [
      ...(environments.get(name) ?? usual),
      ...(ofRefused.get(name) ?? []),
    ]);
    return { isRequired, environments: isRequired.isPossible ? named : [] };
  }

  return {
    apply(step) {
      if (step.do === 'file') projectOf(step.project)[step.folder === '.svc' ? 'svc' : 'claude'] = step.file;
      else if (step.do === 'mount') projectOf(step.project).isMounted = step.isThere;
      else if (step.do === 'list') projectOf(step.project).isListed = step.isListed;
      else if (step.do === 'global') global = step.file;
      else {
        if (isChanged) read();
        isChanged = false;
        if (step.do === 'relax')
          for (const stance of stances.get(sameName(step.repository))?.values() ?? [])
            stance.isRequired = stance.saysRequired || stance.maySayRequired ? perhaps : no;
        return false;
      }
      isChanged = true;
      return true;
    },
    of(name) {
      const repository = sameName(name);
      const byProject = stances.get(repository);
      const ownRequired = anyOf([...(byProject?.values() ?? [])].map((stance) => stance.isRequired));
      const isHidden = unreadable();
      // A policy is known once a project that can be read has named the repository.
      const isKnown = anyOf([...(byProject?.values() ?? [])].map((stance) => stance.isKnown));
      const hasOwn = ownRequired.isCertain || isNamedNow(repository);
      const borrowed = hasOwn ? { isRequired: no, environments: [] } : ofTickets(repository);
      // Once a file has named it, it may have a policy of its own.
      const isBorrowed = {
        isCertain: borrowed.isRequired.isCertain && !isKnown.isPossible,
        isPossible: borrowed.isRequired.isPossible,
      };
      const isUnknown = {
        isCertain: isHidden.isCertain && !isKnown.isPossible,
        isPossible: isHidden.isPossible && !(isKnown.isCertain && ownRequired.isCertain),
      };
      // A refused file that requires proof does so, or is unknown: nothing is done without proof.
      if (!isKnown.isCertain && isRequiredInRefused(repository))
        isUnknown.isCertain = isUnknown.isPossible = true;
      const own =
        environments.get(repository) ?? (borrowed.isRequired.isCertain && !isKnown.isPossible ? [] : usual);
      const possible = [...own, ...borrowed.environments, ...(ofRefused.get(repository) ?? [])];
      return { isRequired: ownRequired, isBorrowed, isUnknown, environments: new Set(possible) };
    },
  };
}
