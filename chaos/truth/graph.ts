// The history of one repository as plain data, and whether a commit has the change that a merge brought. It knows the
// truth of the generator; nothing here asks git.
import type { Commit } from './steps.ts';

/** `certain`: it has it. `possible`: taken out and brought back, or only a part is left; either answer is right. */
export type Containment = 'certain' | 'possible' | 'none';

export interface History {
  add: (commit: Commit) => void;
  has: (id: string) => boolean;
  get: (id: string) => Commit | undefined;
  /** With itself. */
  ancestors: (id: string) => ReadonlySet<string>;
  /** By ancestry alone, without a revert or a discarded merge in between. */
  contains: (id: string, merge: string) => Containment;
}

export function createHistory(): History {
  const commits = new Map<string, Commit>();
  const ancestry = new Map<string, ReadonlySet<string>>();

  function ancestors(id: string): ReadonlySet<string> {
    const before = ancestry.get(id);
    if (before !== undefined) return before;
    const all = new Set([id]);
    for (const parent of commits.get(id)?.parents ?? [])
      for (const ancestor of ancestors(parent)) all.add(ancestor);
    ancestry.set(id, all);
    return all;
  }

  /** What the merge brought: itself, and the commits of its branch, which a squash does not have as ancestors. */
  function broughtBy(merge: string): Set<string> {
    const { parents, squashes } = commits.get(merge) ?? { parents: [] };
    const [first] = parents;
    const before = first === undefined ? new Set<string>() : ancestors(first);
    const all = [...ancestors(merge), ...(squashes === undefined ? [] : ancestors(squashes))];
    return new Set(all.filter((id) => !before.has(id)));
  }

  function contains(id: string, merge: string): Containment {
    if (id === merge) return 'certain';
    const all = ancestors(id);
    if (!all.has(merge)) return 'none';
    const older = ancestors(merge);
    const between = [...all].filter((candidate) => !older.has(candidate)).map((name) => commits.get(name));
    const isDiscarded = between.some((commit) => {
      if (commit?.isOurs !== true) return false;
      const [kept, ...discarded] = commit.parents;
      return (
        kept !== undefined &&
        !ancestors(kept).has(merge) &&
        discarded.some((parent) => ancestors(parent).has(merge))
      );
    });
    if (isDiscarded) return 'none';
    const brought = broughtBy(merge);
    const reverts = between.filter(
      (commit): commit is Commit => commit?.reverts !== undefined && brought.has(commit.reverts),
    );
    if (reverts.length === 0) return 'certain';
    const isBroughtBack = reverts.some((revert) => between.some((commit) => commit?.reverts === revert.id));
    // Commits of the branch other than merges: when one of several is taken out, a part is left. A squash is their sum.
    const isSquash = commits.get(merge)?.squashes !== undefined;
    const changes = [...brought].filter(
      (name) => (commits.get(name)?.parents.length ?? 0) < 2 && !(isSquash && name === merge),
    );
    const isWhole = reverts.some((revert) => revert.reverts === merge) || changes.length < 2;
    return isBroughtBack || !isWhole ? 'possible' : 'none';
  }

  return {
    add(commit) {
      if (!commits.has(commit.id) && commit.parents.every((parent) => commits.has(parent)))
        commits.set(commit.id, commit);
    },
    has: (id) => commits.has(id),
    get: (id) => commits.get(id),
    ancestors,
    contains,
  };
}
