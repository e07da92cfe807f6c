// The same by the code host, which compares two commits and lists the files of one, with their changed lines.
import { z } from 'zod';
import { type Gh, parsed } from '../../codehost/gh.ts';
import type { CodehostProblem } from '../../codehost/problem.ts';
import { type Change, type Diff, parsePatch, type Step, statesOf } from '../hunks.ts';
import { isReverted } from '../reverts.ts';
import { type Containment, decide, nothingChanged, type Pair } from './containment.ts';

const File = z.looseObject({
  filename: z.string(),
  sha: z.string().nullish(),
  previous_filename: z.string().optional(),
  /** Absent for binary files, and where it would be too long. */
  patch: z.string().optional(),
});
const Compared = z.looseObject({
  status: z.string(),
  total_commits: z.int().optional(),
  commits: z
    .array(
      z.looseObject({
        sha: z.string(),
        parents: z.array(z.looseObject({ sha: z.string() })).optional(),
        commit: z.looseObject({ message: z.string() }).optional(),
      }),
    )
    .optional(),
  files: z.array(File).optional(),
});
const Commit = z.looseObject({
  parents: z.array(z.looseObject({ sha: z.string() })),
  files: z.array(File).optional(),
});
type Compared = z.infer<typeof Compared>;

const PER_PAGE = 100;
/** For the commits in between. */
const MOST_PAGES = 10;
/** In between that are compared one by one. */
const MOST_COMMITS = 20;
/** The code host lists no more. */
const MOST_FILES = 300;

const tooMuch: { ok: false; unknown: string } = {
  ok: false,
  unknown: 'too much was changed since the merge for the code host to show whether its change is still there',
};

type Asked<Value> = { ok: true; value: Value } | { ok: false; problem: CodehostProblem };

const done = (value: Containment) => ({ ok: true, value }) as const;

export async function askCodehost(
  gh: Pick<Gh, 'request'>,
  repo: string,
  { mergeSha, sha }: Pair,
): Promise<Asked<Containment> | typeof tooMuch> {
  const compare = async (from: string, to: string, page = 1): Promise<Asked<Compared>> => {
    const path = `repos/${repo}/compare/${from}...${to}?per_page=${PER_PAGE}&page=${page}`;
    const answer = await gh.request({ path });
    return answer.ok ? parsed(Compared, answer.value.json) : answer;
  };

  const first = await compare(mergeSha, sha);
  if (!first.ok) return first;
  const { status, total_commits: total = 0 } = first.value;
  if (status === 'identical') return done({ contains: true });
  if (status === 'behind' || status === 'diverged') return done({ contains: false, reverted: false });
  if (status !== 'ahead')
    return { ok: false, unknown: 'the code host returned an unknown comparison status' };

  const answer = await gh.request({ path: `repos/${repo}/commits/${mergeSha}` });
  const commit = answer.ok ? parsed(Commit, answer.value.json) : answer;
  if (!commit.ok) return commit;
  const [parent] = commit.value.parents;
  const merged = parent === undefined ? nothingChanged.merged : diffOf(commit.value.files ?? []);

  /** The first call that failed; the answer is unknown then. */
  let failed: Exclude<Asked<never>, { ok: true }> | undefined;
  const compared = async (from: string, to: string, page?: number): Promise<Compared | undefined> => {
    const answered = await compare(from, to, page);
    if (answered.ok) return answered.value;
    failed ??= answered;
    return undefined;
  };
  /** All files since the commit before the merge; undefined also for a commit that is not after it. */
  const sinceParent = async (to: string): Promise<Diff | undefined> => {
    const since = await compared(parent?.sha ?? '', to);
    return since?.status === 'ahead' ? wholeDiff(since) : undefined;
  };

  const commits = [...(first.value.commits ?? [])];
  async function reverted(): Promise<boolean | undefined> {
    const pages = Math.ceil(total / PER_PAGE);
    if (pages > MOST_PAGES) return undefined;
    for (let page = 2; page <= pages; page += 1) {
      const next = await compared(mergeSha, sha, page);
      if (next === undefined) return undefined;
      commits.push(...(next.commits ?? []));
    }
    return isReverted(
      mergeSha,
      commits.map(({ sha: id, commit: of }) => ({ sha: id, message: of?.message ?? '' })),
    );
  }

  async function steps(): Promise<readonly Step[] | undefined> {
    if (commits.length !== total || total > MOST_COMMITS) return undefined;
    const found: Step[] = [];
    for (const { sha: id, parents } of commits) {
      if (parents === undefined) return undefined;
      const newer = await compared(mergeSha, id);
      if (newer === undefined) return undefined;
      const isAfter = newer.status === 'ahead';
      const before = await sinceParent(id);
      if (failed !== undefined) return undefined;
      const states =
        before === undefined
          ? statesOf(merged, unseen, unseen)
          : statesOf(merged, before, isAfter ? (wholeDiff(newer) ?? null) : null);
      const content = isAfter ? contentOf(newer, merged) : null;
      found.push({ sha: id, parents: parents.map((each) => each.sha), states, content });
    }
    return found;
  }

  /** Files of the merge that are not compared. */
  const unseen: Diff = new Map([...merged.keys()].map((file) => [file, null]));
  let evidence = { ...nothingChanged, reverted };
  if (merged.size > 0) {
    const sinceMerge = wholeDiff(first.value);
    if (sinceMerge === undefined) return tooMuch;
    const isAnyUntouched = [...merged.keys()].some((file) => !sinceMerge.has(file));
    const before = isAnyUntouched ? unseen : await sinceParent(sha);
    if (before === undefined) return failed ?? tooMuch;
    const everySinceParent = async () => before;
    evidence = { merged, sinceParent: before, sinceMerge, reverted, steps, everySinceParent };
  }
  const decided = await decide(mergeSha, evidence);
  return decided === undefined ? (failed ?? tooMuch) : done(decided);
}

type Files = readonly z.infer<typeof File>[];

/** Undefined if the list may be cut. */
function wholeDiff({ files }: Compared): Diff | undefined {
  return files === undefined || files.length >= MOST_FILES ? undefined : diffOf(files);
}

/** A file with another name is one that is gone, and one whose lines are not shown. */
function diffOf(files: Files): Diff {
  const diff = new Map<string, readonly Change[] | null>();
  for (const { filename, previous_filename: before, patch } of files) {
    if (before !== undefined) diff.set(before, [everything]);
    diff.set(filename, before === undefined && patch !== undefined ? parsePatch(patch) : null);
  }
  return diff;
}

const everything: Change = {
  from: 0,
  to: Number.POSITIVE_INFINITY,
  newFrom: 0,
  newTo: 0,
  removed: [],
  added: [],
};

/** What the files of the merge hold. */
function contentOf({ files = [] }: Compared, merged: Diff): string {
  const own = files.filter(({ filename }) => merged.has(filename));
  return own.map(({ filename, sha, patch }) => JSON.stringify([filename, sha ?? patch])).join();
}
