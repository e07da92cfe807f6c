// Whether a deployed commit has the change of a merge. Being an ancestor is not enough: the change may have been reverted, or
// discarded by a merge that kept the other side. So the change itself is looked for: if it can be taken out of the deployed
// tree, it is in there; if it can be put in once more, it is not. Where later changes touch the same lines, the messages of
// the commits in between decide.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CodehostProblem, type CommitMessage, isReverted } from '@svc/core';
import type { RunGit } from '@svc/lib/git';
import { z } from 'zod';
import { type Gh, parsed } from '../codehost/gh.ts';

export type Pair = { mergeSha: string; sha: string };

export type Containment = { contains: true } | { contains: false; reverted: boolean };

const GIT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

// By git in a clone. The clone belongs to an agent, so whatever it can write there is ignored: replacements, grafts, the
// commit graph, settings of diff and apply.

const environment = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
};
const settings = [
  '-c',
  'core.commitGraph=false',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];
const diff = [
  '-p',
  '-U3',
  '--binary',
  '--full-index',
  '--no-color',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
];
const plainDiff = [...diff, '--diff-algorithm=myers', '--src-prefix=a/', '--dst-prefix=b/'];

/** Undefined when the clone cannot answer. */
export async function askGit(
  runGit: RunGit,
  folder: string,
  { mergeSha, sha }: Pair,
  signal: AbortSignal,
): Promise<Containment | undefined> {
  const git = (args: readonly string[], more: { input?: string; index?: string } = {}) =>
    runGit(folder, [...settings, ...args], {
      environment: { ...environment, ...(more.index !== undefined && { GIT_INDEX_FILE: more.index }) },
      timeoutMs: GIT_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      ...(more.input !== undefined && { input: more.input }),
      signal,
    });

  const asked = await git(['merge-base', '--is-ancestor', '--end-of-options', mergeSha, sha]);
  if (asked.ended !== 'exit' || asked.exitCode > 1) return undefined;
  if (asked.exitCode === 1) {
    // A shallow clone does not know that one commit is before another.
    const shallow = await git(['rev-parse', '--is-shallow-repository']);
    const isWhole = shallow.ended === 'exit' && shallow.stdout.trim() === 'false';
    return isWhole ? { contains: false, reverted: false } : undefined;
  }
  if (mergeSha === sha) return { contains: true };

  const parent = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${mergeSha}^1`]);
  if (parent.ended !== 'exit') return undefined;
  const from = parent.exitCode === 0 ? [parent.stdout.trim()] : ['--root'];
  const change = await git(['diff-tree', ...plainDiff, ...from, mergeSha, '--']);
  if (change.ended !== 'exit' && change.ended !== 'too-large') return undefined;
  if (change.ended === 'exit' && change.exitCode !== 0) return undefined;
  const patch = change.ended === 'exit' ? withoutHeading(change.stdout) : '';
  const present = patch === '' ? undefined : await isPresent(patch);
  if (present !== undefined) return present ? { contains: true } : { contains: false, reverted: true };

  const between = await git(['log', '--format=%H%n%B%x00', '--end-of-options', `${mergeSha}..${sha}`, '--']);
  if (between.ended !== 'exit' || between.exitCode !== 0) return undefined;
  return isReverted(mergeSha, messagesIn(between.stdout))
    ? { contains: false, reverted: true }
    : { contains: true };

  /** Tried on an index of its own; nothing in the clone is touched. Undefined if it is neither in nor out. */
  async function isPresent(input: string): Promise<boolean | undefined> {
    const folderOfIndex = await mkdtemp(join(tmpdir(), 'svc-proof-'));
    try {
      const index = join(folderOfIndex, 'index');
      const read = await git(['read-tree', sha], { index });
      if (read.ended !== 'exit' || read.exitCode !== 0) return undefined;
      const apply = ['apply', '--cached', '--check', '--whitespace=nowarn', '--no-ignore-whitespace'];
      const taken = await git([...apply, '--reverse', '-'], { index, input });
      if (taken.ended === 'exit' && taken.exitCode === 0) return true;
      const added = await git([...apply, '-'], { index, input });
      return added.ended === 'exit' && added.exitCode === 0 ? false : undefined;
    } finally {
      await rm(folderOfIndex, { recursive: true, force: true });
    }
  }
}

/** `diff-tree` of one commit prints its id first. */
function withoutHeading(output: string): string {
  const start = output.startsWith('diff ') ? 0 : output.indexOf('\ndiff ') + 1;
  return start === 0 && !output.startsWith('diff ') ? '' : output.slice(start);
}

function messagesIn(output: string): CommitMessage[] {
  return output
    .split('\0')
    .map((entry) => entry.trimStart())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1
        ? { sha: entry, message: '' }
        : { sha: entry.slice(0, end), message: entry.slice(end + 1) };
    });
}

// By the code host, which compares two commits and lists the files of one.

const File = z.looseObject({ filename: z.string() });
const Compared = z.looseObject({
  status: z.string(),
  total_commits: z.int().optional(),
  commits: z
    .array(z.looseObject({ sha: z.string(), commit: z.looseObject({ message: z.string() }).optional() }))
    .optional(),
  files: z.array(File).optional(),
});
const Commit = z.looseObject({
  parents: z.array(z.looseObject({ sha: z.string() })),
  files: z.array(File).optional(),
});
type Compared = z.infer<typeof Compared>;

const PER_PAGE = 100;
/** Of the commits in between; a revert further away is found by the files only. */
const MOST_PAGES = 3;
/** The code host lists no more. */
const MOST_FILES = 300;

type Asked<Value> = { ok: true; value: Value } | { ok: false; problem: CodehostProblem };

export async function askCodehost(
  gh: Pick<Gh, 'request'>,
  repo: string,
  { mergeSha, sha }: Pair,
): Promise<Asked<Containment> | { ok: false; unknown: string }> {
  const compare = async (from: string, page: number): Promise<Asked<Compared>> => {
    const path = `repos/${repo}/compare/${from}...${sha}?per_page=${PER_PAGE}&page=${page}`;
    const answer = await gh.request({ path });
    return answer.ok ? parsed(Compared, answer.value.json) : answer;
  };
  const done = (value: Containment) => ({ ok: true, value }) as const;

  const first = await compare(mergeSha, 1);
  if (!first.ok) return first;
  const { status, total_commits: total = 0, files } = first.value;
  if (status === 'identical') return done({ contains: true });
  if (status === 'behind' || status === 'diverged') return done({ contains: false, reverted: false });
  if (status !== 'ahead')
    return { ok: false, unknown: 'the code host returned an unknown comparison status' };

  const answer = await gh.request({ path: `repos/${repo}/commits/${mergeSha}` });
  const commit = answer.ok ? parsed(Commit, answer.value.json) : answer;
  if (!commit.ok) return commit;
  const own = (commit.value.files ?? []).map(({ filename }) => filename);
  const [parent] = commit.value.parents;
  const changedSince = namesIn(files);
  // If every file of the merge was changed since, it may be what it was before.
  if (parent !== undefined && own.length > 0 && changedSince && own.every((name) => changedSince.has(name))) {
    const before = await compare(parent.sha, 1);
    if (!before.ok) return before;
    const differs = namesIn(before.value.files);
    if (differs && !own.some((name) => differs.has(name))) return done({ contains: false, reverted: true });
  }

  const messages = messagesOf(first.value);
  for (let page = 2; page <= Math.min(MOST_PAGES, Math.ceil(total / PER_PAGE)); page += 1) {
    const next = await compare(mergeSha, page);
    if (!next.ok) return next;
    messages.push(...messagesOf(next.value));
  }
  return done(isReverted(mergeSha, messages) ? { contains: false, reverted: true } : { contains: true });
}

/** Undefined if the list may be cut. */
function namesIn(files: Compared['files']): ReadonlySet<string> | undefined {
  if (files === undefined || files.length >= MOST_FILES) return undefined;
  return new Set(files.map(({ filename }) => filename));
}

function messagesOf({ commits = [] }: Compared): CommitMessage[] {
  return commits.map(({ sha, commit }) => ({ sha, message: commit?.message ?? '' }));
}
