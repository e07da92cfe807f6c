// What the log says, read from the log alone: pull requests, when each merge became known, and the merged
// commits that wait for their deployment.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AwaitedDeploy,
  type EventLine,
  emptyBoard,
  foldLine,
  type KnownPullRequest,
  knownDeploymentStates,
  knownPullRequest,
  pullRequestKey,
  watchedPullRequests,
} from '../packages/core/src/index.ts';
import type { CodehostView } from '../packages/monitor/src/feeds/codehost-feed.ts';
import type { EventLog } from '../packages/monitor/src/log/event-log.ts';

type Merge = { repo: string; sha: string; knownAt: number; isOut: boolean };

export type KnownByLog = {
  pullRequest: (repo: string, number: number) => KnownPullRequest | undefined;
  merge: (sha: string) => Readonly<Merge> | undefined;
  /** As the daemon has it: what is open, and merged commits without a deployment that went well. */
  view: CodehostView;
  /** Lines by the way they came. */
  lines: Readonly<Record<EventLine['via'], number>>;
  upTo: () => number;
  /** A line came after which the merge state of a pull request is open. */
  onDoubt: (listener: () => void) => void;
  stop: () => Promise<void>;
};

export function followKnown(log: Pick<EventLog, 'subscribe' | 'lastSeq'>, now: () => number): KnownByLog {
  const board = emptyBoard();
  const merges = new Map<string, Merge>();
  const lines = { live: 0, replay: 0, poll: 0, local: 0 };
  const stopped = new AbortController();
  let upTo = 0;
  let doubt = (): void => undefined;

  function note(line: EventLine): void {
    upTo = line.seq;
    lines[line.via] += 1;
    foldLine(board, line);
    const { repo, mergeSha } = line.scope;
    if (repo === undefined) return;
    if (line.event === 'codehost.pr.merged' && mergeSha !== undefined && !merges.has(mergeSha))
      merges.set(mergeSha, {
        repo,
        sha: mergeSha,
        knownAt: Date.parse(line.ts),
        isOut: false,
      });
    if (line.via === 'live' && /^codehost\.(?:check_suite|pr_review)\./.test(line.event)) doubt();
    const deployed = line.event === 'codehost.deployment_status.success' ? line.scope.sha : undefined;
    const merge = merges.get(deployed ?? '');
    if (merge !== undefined) merge.isOut = true;
  }

  const knownOf = (repo: string, number: number): KnownPullRequest | undefined => {
    const known = board.pullRequests.get(pullRequestKey(repo, number));
    return known && knownPullRequest(known);
  };
  const deploys = (): AwaitedDeploy[] =>
    [...merges.values()]
      .filter(({ isOut }) => !isOut)
      .map(({ repo, sha, knownAt }) => ({
        repo,
        sha,
        environment: 'production',
        mergedAt: new Date(knownAt).toISOString(),
        acceptDescendants: true,
      }));

  async function run(): Promise<void> {
    for await (const batch of log.subscribe({ after: 0, whenSlow: 'read-file', signal: stopped.signal }))
      for (const { line } of batch) note(line);
  }

  const running = run();
  return {
    pullRequest: knownOf,
    merge: (sha) => merges.get(sha),
    view: {
      async caughtUp() {
        while (upTo < log.lastSeq()) await nextTurn();
      },
      pullRequests: () => watchedPullRequests(board, now()),
      knownOf,
      deploys,
      deploymentStates: (repo, id) => knownDeploymentStates(board, repo, id),
    },
    lines,
    upTo: () => upTo,
    onDoubt(listener) {
      doubt = listener;
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
