// Whether a commit has the lines of a merge. Nobody has to say that a change was taken out, so its lines are looked at. The
// commit is compared with the one before the merge, and with the merge. A hunk of the merge is
//
// - `in` if nothing since the merge touches the lines that it added (or the place where it removed some);
// - `out` if the lines that it touched are what they were before it;
// - `changed` otherwise. Then the commits in between decide (`lineage`): lines that were once as before, and were changed
//   again, are still taken out; lines that were only changed further are not.
//
// A change is taken out only if every hunk of it is out, and its lines did not move elsewhere. One hunk that is in is enough
// for "not taken out". What cannot be compared (no lines are shown, both sides of a merge were rewritten) is unknown.

/** Lines from `from` to before `to`, counted from 0; equal: the place before that line. */
export type Change = {
  from: number;
  to: number;
  newFrom: number;
  newTo: number;
  removed: readonly string[];
  added: readonly string[];
};

/** By file. Null: no lines are shown. A file that does not differ is not in it. */
export type Diff = ReadonlyMap<string, readonly Change[] | null>;

export type State = 'in' | 'out' | 'changed' | 'unknown';
export type Origin = Exclude<State, 'changed'>;

/** Each hunk of the merge, in the order of its diff. `sinceMerge` is null for a commit that the merge is not compared with. */
export function statesOf(merged: Diff, sinceParent: Diff, sinceMerge: Diff | null): State[] {
  return [...merged].flatMap(([file, changes]) => {
    const units = changes === null || changes.length === 0 ? [null] : changes;
    if (!sinceParent.has(file)) return units.map((): State => 'out');
    if (sinceMerge !== null && !sinceMerge.has(file)) return units.map((): State => 'in');
    const before = sinceParent.get(file) ?? null;
    const after = sinceMerge?.get(file) ?? null;
    return units.map((unit): State => {
      if (unit === null || before === null) return 'unknown';
      const isOut = !before.some((change) => replaces(change, unit));
      if (after === null) return isOut ? 'out' : 'unknown';
      const isIn = !after.some((change) => touches(change, unit));
      // Equal lines nearby can look like both.
      return isOut === isIn ? 'changed' : isOut ? 'out' : 'in';
    });
  });
}

/** A change directly beside lines that are back may be anything, but one that has an added line may be where it is now. */
function replaces({ from, to, added }: Change, unit: Change): boolean {
  if (from < unit.to && to > unit.from) return true;
  const isBeside = from <= unit.to && to >= unit.from;
  return isBeside && (unit.from === unit.to || added.some((line) => unit.added.includes(line)));
}

function touches({ from, to }: Change, { newFrom, newTo }: Change): boolean {
  return newFrom === newTo ? from <= newTo && to >= newFrom : from < newTo && to > newFrom;
}

/** A commit after the merge. Commits with the same content have the same text there. */
export type Step = {
  sha: string;
  parents: readonly string[];
  states: readonly State[];
  content: string | null;
};

/**
 * What each hunk comes from at the last step. The steps are all commits that the last has and the merge has not, parents
 * first; every other commit is older than the merge.
 */
export function lineage(mergeSha: string, steps: readonly Step[]): readonly Origin[] {
  const origins = new Map<string, Origin[]>();
  const bySha = new Map(steps.map((step) => [step.sha, step]));
  for (const { sha, parents, states, content } of steps) {
    const same = parents.filter(
      (parent) =>
        content !== null && (parent === mergeSha ? '' : (bySha.get(parent)?.content ?? null)) === content,
    );
    const originsOf = states.map((state, hunk): Origin => {
      if (state !== 'changed') return state;
      // A merge of two sides takes nothing from the one that left the lines alone.
      const changing = parents.filter((parent) => bySha.get(parent)?.states[hunk] !== 'out');
      const from = [same, changing, parents].find((some) => some.length > 0) ?? [];
      const possible = new Set(
        from.map((parent) =>
          parent === mergeSha ? 'in' : bySha.has(parent) ? origins.get(parent)?.[hunk] : 'out',
        ),
      );
      const [only = 'unknown'] = possible;
      return possible.size === 1 ? only : 'unknown';
    });
    origins.set(sha, originsOf);
  }
  return origins.get(steps.at(-1)?.sha ?? '') ?? [];
}

/** How many of the lines that the merge added were also added elsewhere since the commit before it. */
export function moved(merged: Diff, sinceParent: Diff): 'all' | 'some' | 'none' {
  const lines = (diff: Diff, side: 'added' | 'removed'): string[] =>
    [...diff.values()].flatMap((changes) =>
      (changes ?? []).flatMap((change) => change[side].map((line) => line.trim()).filter(isTelling)),
    );
  const removed = new Set(lines(merged, 'removed'));
  const own = [...new Set(lines(merged, 'added'))].filter((line) => !removed.has(line));
  const since = new Set(lines(sinceParent, 'added'));
  const found = own.filter((line) => since.has(line)).length;
  if (found === own.length && found >= FEW_LINES) return 'all';
  return found > 0 && found * 2 >= own.length ? 'some' : 'none';
}

/** Fewer equal lines may be chance. */
const FEW_LINES = 3;
const isTelling = (line: string): boolean => /[\p{L}\p{N}]/u.test(line);

/** Of `git diff`; a file is named by its heading, which is the same in every diff without renames. */
export function parseDiff(text: string): Diff {
  const diff = new Map<string, readonly Change[] | null>();
  let heading: string | null = null;
  let body: string[] = [];
  const close = (): void => {
    if (heading === null) return;
    // A file that became a link has two parts.
    const isWhole = !diff.has(heading) && !body.some((line) => line.startsWith('Binary files '));
    diff.set(heading, isWhole ? parsePatch(body.join('\n')) : null);
  };
  for (const line of text.split('\n')) {
    if (line.startsWith('diff --git ')) {
      close();
      heading = line;
      body = [];
    } else body.push(line);
  }
  close();
  return diff;
}

const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The hunks of one file, with or without lines around them. Null if they are cut. */
export function parsePatch(patch: string): Change[] | null {
  const changes: Change[] = [];
  let [at, newAt, left, newLeft] = [0, 0, 0, 0];
  let open: { from: number; newFrom: number; removed: string[]; added: string[] } | null = null;
  const close = (): void => {
    if (open !== null) changes.push({ ...open, to: at, newTo: newAt });
    open = null;
  };
  for (const line of patch.split('\n')) {
    if (left === 0 && newLeft === 0) {
      close();
      const [header, from, count = '1', newFrom, newCount = '1'] = hunk.exec(line) ?? [];
      if (header === undefined) continue;
      [left, newLeft] = [Number(count), Number(newCount)];
      at = Number(from) - (left === 0 ? 0 : 1);
      newAt = Number(newFrom) - (newLeft === 0 ? 0 : 1);
      continue;
    }
    if (line.startsWith('\\')) continue;
    const sign = line[0] ?? ' ';
    if (sign === ' ') close();
    else open ??= { from: at, newFrom: newAt, removed: [], added: [] };
    if (sign !== '+') {
      at += 1;
      left -= 1;
    }
    if (sign !== '-') {
      newAt += 1;
      newLeft -= 1;
    }
    if (sign === '-') open?.removed.push(line.slice(1));
    if (sign === '+') open?.added.push(line.slice(1));
  }
  close();
  return left === 0 && newLeft === 0 ? changes : null;
}
