// Removes the hooks of a channel that is no longer ours, after a rotation: they would go on sending every
// event of the repository to a mailbox that anybody with the old address can read.
import { type CodehostProblem, hooksOfChannel, repoNameIn } from '@svc/core';
import type { HookApi } from './hooks.ts';

export type Unsubscribed = { repo: string; removed: number; problem: CodehostProblem | null };

/** One report per repository; a failure at one leaves the others alone. Running it again removes the rest. */
export async function unsubscribe(
  hooks: HookApi,
  channelUrl: string,
  repos: readonly string[],
): Promise<Unsubscribed[]> {
  const wellNamed = repos.filter((repo) => repoNameIn(repo) !== undefined);
  return Promise.all(wellNamed.map((repo) => unsubscribeRepo(hooks, channelUrl, repo)));
}

async function unsubscribeRepo(hooks: HookApi, channelUrl: string, repo: string): Promise<Unsubscribed> {
  const listed = await hooks.list(repo);
  if (!listed.ok) return { repo, removed: 0, problem: listed.problem };
  let removed = 0;
  for (const { id } of hooksOfChannel(listed.value, channelUrl)) {
    const gone = await hooks.remove(repo, id);
    if (!gone.ok) return { repo, removed, problem: gone.problem };
    if (gone.value) removed += 1;
  }
  return { repo, removed, problem: null };
}
