// The code host's side of a random world: branches, pull requests, stacks, forks, reverts, releases, deployments and
// their statuses. Each action returns the facts that it made, in order.
import type { Random } from '../../packages/testkit/src/random.ts';
import type { Commit, FactContent, StatusState } from './steps.ts';

interface OpenPullRequest {
  number: number;
  branch: string;
  base: string;
  head: string;
  /** Not in a fork. */
  isHere: boolean;
}
interface Merged {
  commit: string;
  head: string;
}
interface Deployed {
  id: number;
  environment: string;
  isEnded: boolean;
}
interface Asked {
  branch: string;
  ticket: string | null;
  from?: 'fork' | 'deleted-fork';
}
export interface CodehostActions {
  repository: string;
  openFor: (asked: Asked) => FactContent[];
  merge: () => FactContent[];
  close: () => FactContent[];
  commit: () => FactContent[];
  revert: () => FactContent[];
  release: () => FactContent[];
  deploy: () => FactContent[];
  /** The usual end of a merge: the newest one, or what contains it, is deployed with success. */
  ship: () => FactContent[];
  status: () => FactContent[];
  /** Merges, deployed commits and pull requests so far, for claims and lies. */
  merges: () => readonly string[];
  commits: () => readonly string[];
  numbers: () => readonly number[];
}

export function createCodehostActions(options: {
  repository: string;
  random: Random;
  /** What svc.deploy waits for; other words for it are tried too. */
  environment: () => string;
  nextNumber: () => number;
}): CodehostActions {
  const { repository, random, environment, nextNumber } = options;
  const commits: string[] = [];
  const tips = new Map<string, string>();
  let open: OpenPullRequest[] = [];
  const numbers: number[] = [];
  const merged: Merged[] = [];
  const reverts: string[] = [];
  const deployments: Deployed[] = [];
  let made = 0;

  function commit(content: Omit<Commit, 'id'>): { id: string; fact: FactContent } {
    made += 1;
    const id = `c${made}`;
    commits.push(id);
    return { id, fact: { do: 'commit', repository, id, ...content } };
  }

  function tipOf(branch: string, facts: FactContent[]): string {
    const before = tips.get(branch);
    if (before !== undefined) return before;
    const from = branch === 'main' ? undefined : tipOf('main', facts);
    if (from !== undefined) {
      tips.set(branch, from);
      return from;
    }
    const { id, fact } = commit({ parents: [] });
    facts.push(fact);
    tips.set(branch, id);
    return id;
  }

  function onto(branch: string, facts: FactContent[], content: Omit<Commit, 'id' | 'parents'> = {}): string {
    const isShared = random.chance(0.4);
    const parents = [tipOf(branch, facts)];
    const { id, fact } = commit({ parents, ...content, ...(isShared && { isShared }) });
    facts.push(fact);
    tips.set(branch, id);
    return id;
  }

  function mergeInto(base: string, head: string, facts: FactContent[]): string {
    const how = random.next();
    const parent = tipOf(base, facts);
    const content = how < 0.45 ? { parents: [parent, head] } : { parents: [parent], squashes: head };
    const { id, fact } = commit(content);
    facts.push(fact);
    tips.set(base, id);
    return id;
  }

  function chooseCommit(facts: FactContent[]): string {
    const kind = random.next();
    if (kind < 0.3 && merged.length > 0) return merged.at(-1)?.commit ?? tipOf('main', facts);
    if (kind < 0.45 && merged.length > 0) return random.pick(merged).commit;
    if (kind < 0.8 || commits.length === 0) return tipOf('main', facts);
    return kind < 0.9 ? tipOf('release', facts) : random.pick(commits);
  }

  function announce(facts: FactContent[], commitId: string, where: string, task: string): number {
    const id = nextNumber() + 40_000;
    deployments.push({ id, environment: where, isEnded: false });
    facts.push({ do: 'deployment', repository, id, commit: commitId, environment: where, task });
    return id;
  }

  function statusOf(deployment: number, state: StatusState, where: string): FactContent {
    return { do: 'status', repository, deployment, state, environment: where };
  }

  return {
    repository,
    openFor({ branch, ticket, from }) {
      const facts: FactContent[] = [];
      // A part of the pull requests is stacked on an open one.
      const below = open.filter((other) => other.isHere && other.branch !== branch);
      const base = below.length > 0 && random.chance(0.3) ? random.pick(below).branch : 'main';
      const name = from === undefined ? branch : `${from}:${branch}`;
      if (!tips.has(name)) tips.set(name, tipOf(base, facts));
      let head = onto(name, facts);
      if (random.chance(0.25)) head = onto(name, facts);
      const number = nextNumber();
      numbers.push(number);
      open.push({ number, branch: name, base, head, isHere: from === undefined });
      facts.push({
        do: 'open',
        repository,
        number,
        head,
        branch,
        base,
        from: from ?? 'here',
        ticket,
      });
      return facts;
    },
    merge() {
      if (open.length === 0) return [];
      const pullRequest = random.pick(open);
      open = open.filter((candidate) => candidate !== pullRequest);
      const facts: FactContent[] = [];
      // What was merged into its branch meanwhile is part of it.
      const head = tips.get(pullRequest.branch) ?? pullRequest.head;
      const id = mergeInto(pullRequest.base, head, facts);
      merged.push({ commit: id, head });
      facts.push({ do: 'merge', repository, number: pullRequest.number, head, commit: id });
      return facts;
    },
    close() {
      if (open.length === 0) return [];
      const pullRequest = random.pick(open);
      open = open.filter((candidate) => candidate !== pullRequest);
      return [{ do: 'close', repository, number: pullRequest.number }];
    },
    commit() {
      const facts: FactContent[] = [];
      onto('main', facts);
      return facts;
    },
    revert() {
      const facts: FactContent[] = [];
      if (reverts.length > 0 && random.chance(0.25)) {
        onto('main', facts, { reverts: random.pick(reverts) });
        return facts;
      }
      if (merged.length === 0) return [];
      const target = random.pick(merged);
      const isSilent = random.chance(0.4);
      const id = onto('main', facts, {
        reverts: random.chance(0.85) ? target.commit : target.head,
        ...(isSilent && { isSilent }),
      });
      reverts.push(id);
      return facts;
    },
    release() {
      const facts: FactContent[] = [];
      const kind = random.next();
      const main = tipOf('main', facts);
      const before = tipOf('release', facts);
      if (kind < 0.35) onto('release', facts);
      else if (before === main) onto('main', facts);
      else if (kind < 0.65) {
        const { id, fact } = commit({ parents: [before, main], isOurs: true });
        facts.push(fact);
        tips.set('release', id);
      } else if (kind < 0.85 && merged.length > 0) {
        onto('release', facts, { picks: random.pick(merged).commit });
      } else {
        const { id, fact } = commit({ parents: [before, main] });
        facts.push(fact);
        tips.set('release', id);
      }
      return facts;
    },
    deploy() {
      const facts: FactContent[] = [];
      const task = random.chance(0.84) ? 'deploy' : random.pick(['rollback', 'deploy:migrations']);
      announce(facts, chooseCommit(facts), environmentNear(random, environment()), task);
      return facts;
    },
    ship() {
      const newest = merged.at(-1);
      if (newest === undefined) return [];
      const facts: FactContent[] = [];
      const commitId = random.chance(0.6) ? newest.commit : tipOf('main', facts);
      const where = random.chance(0.85) ? environment() : environmentNear(random, environment());
      const id = announce(facts, commitId, where, 'deploy');
      if (random.chance(0.5)) facts.push(statusOf(id, 'in_progress', where));
      facts.push(statusOf(id, 'success', where));
      return facts;
    },
    status() {
      const running = deployments.filter(({ isEnded }) => !isEnded);
      const deployment =
        running.length > 0 && random.chance(0.85)
          ? random.pick(running)
          : deployments.length > 0
            ? random.pick(deployments)
            : undefined;
      if (deployment === undefined) return [];
      const state: StatusState =
        random.next() < 0.5
          ? 'success'
          : random.pick(['pending', 'in_progress', 'in_progress', 'failure', 'error', 'inactive']);
      // A promotion: the status is of another environment than its deployment.
      const where = random.chance(0.8) ? deployment.environment : environmentNear(random, environment());
      if (state === 'success' || state === 'failure' || state === 'error')
        deployment.isEnded = random.chance(0.7);
      return [statusOf(deployment.id, state, where)];
    },
    merges: () => merged.map((merge) => merge.commit),
    commits: () => commits,
    numbers: () => numbers,
  };
}

function environmentNear(random: Random, wanted: string): string {
  const kind = random.next();
  if (kind < 0.55) return wanted;
  if (kind < 0.68) return wanted.toUpperCase();
  return random.pick([
    'staging',
    'staging',
    'preview',
    `${wanted}-eu`,
    wanted === 'live' ? 'production' : 'live',
  ]);
}
