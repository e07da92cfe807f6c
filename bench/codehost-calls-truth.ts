// Few calls must not be bought with blindness: at the end the log is held against the code host itself.
import type { EventLog } from '../packages/monitor/src/log/event-log.ts';
import { fullNameOf, type RepoRow } from '../packages/testkit/src/codehost/cloud.ts';

import type { KnownByLog } from './codehost-calls-known.ts';
import type { OfPullRequest } from './codehost-calls-payloads.ts';

export type Truth = {
  pullRequests: number;
  merges: number;
  deliveries: number;
  lines: KnownByLog['lines'];
  /** From a merge to its line in the log, milliseconds: each, shortest first. */
  lags: number[];
  /** What the log does not know, or knows wrongly. */
  problems: string[];
};

const states = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const;

export function compareWithTruth(options: {
  repos: readonly RepoRow[];
  known: Pick<KnownByLog, 'pullRequest' | 'merge' | 'lines' | 'upTo'>;
  log: Pick<EventLog, 'hasDelivery' | 'lastSeq'>;
  touched: ReadonlySet<OfPullRequest>;
  startedAt: number;
}): Truth {
  const { known, log, touched, startedAt } = options;
  const problems: string[] = [];
  if (known.upTo() !== log.lastSeq()) problems.push('the log was not read to its end');
  const lags: number[] = [];
  for (const { repo, row } of touched) {
    const name = `${fullNameOf(repo)}#${row.number}`;
    const told = known.pullRequest(fullNameOf(repo), row.number);
    if (told?.state !== states[row.state])
      problems.push(`${name} is ${states[row.state]}, the log says ${told?.state ?? 'nothing'}`);
    if (row.state === 'OPEN' && told?.headSha !== row.headSha) problems.push(`${name}: another head commit`);
    if (row.mergedAt === null || row.mergeSha === null) continue;
    const merge = known.merge(row.mergeSha);
    if (merge !== undefined) lags.push(merge.knownAt - row.mergedAt);
    const isOut = repo.deployments.some(
      ({ sha, statuses }) => sha === row.mergeSha && statuses.at(-1)?.state === 'success',
    );
    if (merge?.isOut !== isOut) problems.push(`${name}: deployed ${isOut}, the log says ${merge?.isOut}`);
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
    lags: lags.toSorted((one, other) => one - other),
    problems,
  };
}
