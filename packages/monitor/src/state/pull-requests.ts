// What the log says of each pull request, folded as lines come. A start looks back a bounded while: what
// nobody touched for so long is asked for again when somebody does.
import { type KnownPullRequest, pullRequestAfter, repoKey } from '@svc/core';
import type { EventLog } from '../log/event-log.ts';

const LOOK_BACK_MS = 14 * 86_400_000;
/** Merged and closed ones are let go in the order of their last change. */
const MOST_KEPT = 10_000;

export type PullRequestState = {
  knownOf: (repo: string, number: number) => KnownPullRequest | undefined;
  open: () => { repo: string; number: number }[];
  stop: () => Promise<void>;
};

export function followPullRequests(options: {
  log: Pick<EventLog, 'list' | 'subscribe' | 'lastSeq'>;
  now: () => number;
  onFailure: (error: unknown) => void;
}): PullRequestState {
  const { log, now, onFailure } = options;
  const known = new Map<string, { repo: string; number: number; pullRequest: KnownPullRequest }>();
  const stopped = new AbortController();

  async function run(): Promise<void> {
    const since = { time: now() - LOOK_BACK_MS };
    const { entries } = await log.list({ since, order: 'oldest-first', limit: 1 });
    const after = (entries[0]?.line.seq ?? log.lastSeq() + 1) - 1;
    for await (const batch of log.subscribe({ after, whenSlow: 'read-file', signal: stopped.signal })) {
      for (const { line } of batch) note(line);
    }
  }

  function note(line: Parameters<typeof pullRequestAfter>[1]): void {
    const { repo, pr } = line.scope;
    if (repo === undefined || pr === undefined) return;
    const key = keyOf(repo, pr);
    const next = pullRequestAfter(known.get(key)?.pullRequest, line);
    if (next === undefined) return;
    known.delete(key);
    known.set(key, { repo, number: pr, pullRequest: next });
    if (known.size > MOST_KEPT) letGo();
  }

  function letGo(): void {
    for (const [key, { pullRequest }] of known) {
      if (pullRequest.state !== 'open') return void known.delete(key);
    }
  }

  const running = run().catch(onFailure);
  return {
    knownOf: (repo, number) => known.get(keyOf(repo, number))?.pullRequest,
    open: () =>
      [...known.values()]
        .filter(({ pullRequest }) => pullRequest.state === 'open')
        .map(({ repo, number }) => ({ repo, number })),
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

function keyOf(repo: string, number: number): string {
  return `${repoKey(repo)}#${number}`;
}
