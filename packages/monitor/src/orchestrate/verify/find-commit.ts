// Makes sure that the repository has a merged commit and the one that it is compared with: its first parent, which
// is right for a merge and for a squash. What is missing is fetched, once.
import { lastLines } from '@svc/lib/git';
import { Failure } from '../../errors.ts';
import { type AskGit, mustAnswer } from './ask-git.ts';

const FETCH_MS = 5 * 60_000;

export async function findCommit({
  git,
  folder,
  sha,
  base,
  signal,
}: {
  git: AskGit;
  folder: string;
  sha: string;
  base?: string | undefined;
  signal?: AbortSignal | undefined;
}): Promise<{ sha: string; base: string }> {
  const has = async (id: string): Promise<boolean> => {
    const reply = await git(folder, ['cat-file', '-e', `${id}^{commit}`], { signal });
    return reply !== 'too-large' && reply.exitCode === 0;
  };
  const ensure = async (id: string): Promise<void> => {
    if (await has(id)) return;
    const why = await fetchCommit(git, folder, id, signal);
    if (await has(id)) return;
    throw new Failure(
      'not-registered',
      `The commit ${id} is not in ${folder} and could not be fetched: ${why}.`,
      `Look what is wrong: git -C ${folder} fetch`,
    );
  };
  await ensure(sha);
  const against = base ?? (await firstParent(git, folder, sha));
  if (against !== undefined) await ensure(against);
  return { sha, base: against ?? (await emptyTree(git, folder)) };
}

/** As the commit itself says: a clone without its whole history does not know its parents otherwise. */
async function firstParent(git: AskGit, folder: string, sha: string): Promise<string | undefined> {
  const text = await mustAnswer(git(folder, ['cat-file', 'commit', sha]), `The commit ${sha}`);
  const headers = text.slice(0, text.indexOf('\n\n') + 1);
  return /^parent ([0-9a-f]{40}|[0-9a-f]{64})$/m.exec(headers)?.[1];
}

async function emptyTree(git: AskGit, folder: string): Promise<string> {
  return (await mustAnswer(git(folder, ['hash-object', '-t', 'tree', '/dev/null']), 'The empty tree')).trim();
}

/** Why it may not have worked; whether it did is seen by looking. */
async function fetchCommit(
  git: AskGit,
  folder: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const remotes = (await mustAnswer(git(folder, ['remote']), 'The remotes')).split('\n');
  const remote = remotes.includes('origin') ? 'origin' : remotes.find((name) => /^\w/.test(name));
  if (remote === undefined) return 'there is no remote';
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  let why = `${remote} does not have it`;
  // Not every server gives a commit by its id.
  for (const what of [[remote, id], [remote]]) {
    const reply = await git(folder, [...fetch, ...what], { timeoutMs: FETCH_MS, signal });
    if (reply === 'too-large') continue;
    if (reply.exitCode === 0) return `${remote} does not have it`;
    why = lastLines(reply.stderr);
  }
  return why;
}
