// The state according to the log alone: pull requests, when each merge became known, and the merged commits that wait
// for their deployment.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { emptyBoard, foldLine } from '../packages/monitor/src/features/board.ts';
import { codehostView } from '../packages/monitor/src/features/deploy/codehost-view.ts';
import type { AwaitedDeploy } from '../packages/monitor/src/features/deploy/watched.ts';
import { createLookup } from '../packages/monitor/src/features/tickets/subject.ts';
import type { EventLine } from '../packages/monitor/src/kernel/log/event-line.ts';
import type { EventLog } from '../packages/monitor/src/kernel/log/event-log.ts';
import { fullNameOf, type RepoRow } from '../packages/testkit/src/codehost/cloud.ts';
import type { OfPullRequest } from './codehost-calls-world.ts';

type Merge = { repo: string; sha: string; knownAt: number; isOut: boolean };

type KnownByLog = ReturnType<typeof followKnown>;

export function followKnown(log: Pick<EventLog, 'subscribe' | 'lastSeq'>, now: () => number) {
  const board = emptyBoard();
  const merges = new Map<string, Merge>();
  const lines = { live: 0, replay: 0, poll: 0, local: 0 };
  const stopped = new AbortController();
  let doubt = (): void => undefined;

  function note(line: EventLine): void {
    lines[line.via] += 1;
    foldLine(board, line);
    const { repo, mergeSha } = line.scope;
    if (repo === undefined) return;
    if (line.event === 'codehost.pr.merged' && mergeSha !== undefined && !merges.has(mergeSha))
      merges.set(mergeSha, { repo, sha: mergeSha, knownAt: Date.parse(line.ts), isOut: false });
    if (line.via === 'live' && /^codehost\.(?:check_suite|pr_review)\./.test(line.event)) doubt();
    const deployed = line.event === 'codehost.deployment_status.success' ? line.scope.sha : undefined;
    const merge = merges.get(deployed ?? '');
    if (merge !== undefined) merge.isOut = true;
  }

  /** No worker is in the log: these are the merged commits without a successful deployment. */
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
  const view = {
    ...codehostView(
      {
        board: () => board,
        async reached(seq) {
          while (board.seq < seq) await nextTurn();
        },
      },
      log.lastSeq,
      now,
      createLookup,
    ),
    deploys,
  };
  return {
    board,
    pullRequest: view.knownOf,
    merge: (sha: string): Readonly<Merge> | undefined => merges.get(sha),
    view,
    /** Lines by the way they arrived. */
    lines,
    upTo: () => board.seq,
    /** A line arrived after which the merge state of a pull request is unknown. */
    onDoubt(listener: () => void): void {
      doubt = listener;
    },
    async stop(): Promise<void> {
      stopped.abort();
      await running;
    },
  };
}

// Few calls must not mean missing data: at the end the log is compared with the code host itself.

const states = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const;

export function compareWithTruth(options: {
  repos: readonly RepoRow[];
  known: Pick<KnownByLog, 'pullRequest' | 'merge' | 'lines' | 'upTo'>;
  log: Pick<EventLog, 'hasDelivery' | 'lastSeq'>;
  touched: ReadonlySet<OfPullRequest>;
  startedAt: number;
}) {
  const { known, log, touched, startedAt } = options;
  const problems: string[] = [];
  if (known.upTo() !== log.lastSeq()) problems.push('the log was not read to its end');
  const lags: number[] = [];
  for (const { repo, row } of touched) {
    const name = `${fullNameOf(repo)}#${row.number}`;
    const logged = known.pullRequest(fullNameOf(repo), row.number);
    if (logged?.state !== states[row.state])
      problems.push(`${name} is ${states[row.state]}, the log has ${logged?.state ?? 'nothing'}`);
    if (row.state === 'OPEN' && logged?.headSha !== row.headSha)
      problems.push(`${name}: another head commit`);
    if (row.mergedAt === null || row.mergeSha === null) continue;
    const merge = known.merge(row.mergeSha);
    if (merge !== undefined) lags.push(merge.knownAt - row.mergedAt);
    const isOut = repo.deployments.some(
      ({ sha, statuses }) => sha === row.mergeSha && statuses.at(-1)?.state === 'success',
    );
    if (merge?.isOut !== isOut) problems.push(`${name}: deployed ${isOut}, the log has ${merge?.isOut}`);
  }
  const deliveries = options.repos.flatMap((repo) => repo.deliveries);
  for (const { guid, event } of deliveries)
    if (!log.hasDelivery('codehost', guid)) problems.push(`a delivery of ${event} is not in the log`);
  if (touched.size === 0 || deliveries.some(({ deliveredAt }) => deliveredAt < startedAt))
    problems.push('nothing happened, or something before the start');
  return {
    pullRequests: touched.size,
    merges: lags.length,
    deliveries: deliveries.length,
    lines: known.lines,
    /** From a merge to its line in the log, milliseconds: each, shortest first. */
    lags: lags.toSorted((one, other) => one - other),
    problems,
  };
}
