// The history of one repository as plain data, and whether a commit has the change that a merge brought. It knows the
// truth of the generator; nothing here asks git.
import type { Commit } from './steps.ts';

/** `certain`: it has it. `possible`: taken out and brought back, or only a part is left; either answer is right. */
export type Containment = 'certain' | 'possible' | 'none';

export interface History {
  add: (commit: Commit) => void;
  has: (id: string) => boolean;
  get: (id: string) => Commit | undefined;
  /** Parents first. */
  all: () => Iterable<Commit>;
  /** With itself. */
  ancestors: (id: string) => ReadonlySet<string>;
  /** By ancestry alone, without a revert or a discarded merge in between. */
  contains: (id: string, merge: string) => Containment;
  /** Whether a change was taken out without a word between the merge and the commit. */
  isSilent: (id: string, merge: string) => boolean;
  /** What its files hold: a part for each change. */
  parts: (id: string) => ReadonlySet<string>;
}

/** What every shared file begins with. */
export const SHARED = 'shared/';

interface Content {
  /** In the order in which they were made. */
  ancestors: readonly string[];
  parts: ReadonlySet<string>;
  added: readonly string[];
  removed: readonly string[];
}

/** What the commits hold: a change adds a part, a revert removes it, and a merge with `-s ours` lacks it. */
function createContents(): { add: (commit: Commit) => void; get: (id: string) => Content | undefined } {
  const contents = new Map<string, Content>();

  /** What the other side has changed since the newest common ancestor. */
  function mergeFrom(other: Content | undefined, ours: Content | undefined, parts: Set<string>): void {
    if (other === undefined) return;
    const common = other.ancestors.findLast((id) => ours?.ancestors.includes(id));
    const base = common === undefined ? new Set<string>() : contents.get(common)?.parts;
    for (const name of other.parts) if (base?.has(name) !== true) parts.add(name);
    for (const name of base ?? []) if (!other.parts.has(name)) parts.delete(name);
  }

  function partsOf(commit: Commit): Set<string> {
    const [first, ...others] = commit.parents.map((id) => contents.get(id));
    const parts = new Set(first?.parts);
    const own = commit.isShared === true ? `${SHARED}${commit.id}` : `change-${commit.id}`;
    if (commit.isOurs === true) return parts;
    if (commit.reverts !== undefined) {
      const target = contents.get(commit.reverts);
      for (const name of target?.added ?? []) parts.delete(name);
      for (const name of target?.removed ?? []) parts.add(name);
      // A revert of what is not there would be empty: git refuses it, so it changes something else.
      if (first !== undefined && sameParts(parts, first.parts)) parts.add(own);
      return parts;
    }
    if (commit.picks !== undefined)
      for (const name of contents.get(commit.picks)?.added ?? []) parts.add(name);
    const squashed = commit.squashes === undefined ? [] : [contents.get(commit.squashes)];
    for (const other of [...others, ...squashed]) mergeFrom(other, first, parts);
    if (commit.parents.length < 2 && squashed.length === 0 && commit.picks === undefined) parts.add(own);
    // The file that others share is there from the beginning.
    if (commit.parents.length === 0) parts.add(`${SHARED}begin`);
    return parts;
  }

  return {
    get: (id) => contents.get(id),
    add(commit) {
      const parts = partsOf(commit);
      const before = contents.get(commit.parents[0] ?? '')?.parts ?? new Set<string>();
      const inherited = new Set(commit.parents.flatMap((id) => contents.get(id)?.ancestors ?? []));
      // The newest last: ids are made in order.
      const ancestors = [...contents.keys()].filter((id) => inherited.has(id)).concat(commit.id);
      contents.set(commit.id, {
        ancestors,
        parts,
        added: [...parts].filter((name) => !before.has(name)),
        removed: [...before].filter((name) => !parts.has(name)),
      });
    },
  };
}

function sameParts(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name));
}

export function createHistory(): History {
  const commits = new Map<string, Commit>();
  const contents = createContents();
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

  function between(id: string, merge: string): (Commit | undefined)[] {
    const older = ancestors(merge);
    return [...ancestors(id)].filter((candidate) => !older.has(candidate)).map((name) => commits.get(name));
  }

  function isSilent(id: string, merge: string): boolean {
    return between(id, merge).some((commit) => commit?.isSilent === true);
  }

  /** By what is left of what the merge changed. */
  function byContent(id: string, merge: string): Containment {
    const { added = [], removed = [] } = contents.get(merge) ?? {};
    const parts = contents.get(id)?.parts ?? new Set<string>();
    const left =
      added.filter((name) => parts.has(name)).length + removed.filter((name) => !parts.has(name)).length;
    if (left === 0) return added.length + removed.length === 0 ? 'possible' : 'none';
    return left === added.length + removed.length ? 'certain' : 'possible';
  }

  function contains(id: string, merge: string): Containment {
    const spoken = bySaid(id, merge);
    if (spoken === 'none' || !isSilent(id, merge)) return spoken;
    const left = byContent(id, merge);
    return left === 'certain' ? spoken : left;
  }

  /** By ancestry, and by what the commits in between say. */
  function bySaid(id: string, merge: string): Containment {
    if (id === merge) return 'certain';
    const all = ancestors(id);
    if (!all.has(merge)) return 'none';
    const later = between(id, merge);
    const isDiscarded = later.some((commit) => {
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
    const reverts = later.filter(
      (commit): commit is Commit =>
        commit?.reverts !== undefined && commit.isSilent !== true && brought.has(commit.reverts),
    );
    if (reverts.length === 0) return 'certain';
    const isBroughtBack = reverts.some((revert) => later.some((commit) => commit?.reverts === revert.id));
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
      if (commits.has(commit.id) || !commit.parents.every((parent) => commits.has(parent))) return;
      commits.set(commit.id, commit);
      contents.add(commit);
    },
    has: (id) => commits.has(id),
    get: (id) => commits.get(id),
    all: () => commits.values(),
    ancestors,
    contains,
    isSilent,
    parts: (id) => contents.get(id)?.parts ?? new Set(),
  };
}
