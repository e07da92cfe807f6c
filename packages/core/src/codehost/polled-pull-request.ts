// A pull request as a reconciliation finds it: the shape of the GraphQL answer, and the same in the words of
// a delivery, so that the one mapping of `receive/` turns both into lines.
import { z } from 'zod';

const time = z.string().nullish();
const login = z.object({ login: z.string() }).nullish();

export const PolledPullRequest = z.object({
  number: z.int().positive(),
  title: z.string(),
  url: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  merged: z.boolean(),
  mergedAt: time,
  mergedBy: login,
  mergeCommit: z.object({ oid: z.string() }).nullish(),
  author: login,
  createdAt: z.string(),
  updatedAt: z.string(),
  closedAt: time,
  headRefName: z.string(),
  headRefOid: z.string(),
  headRepository: z.object({ nameWithOwner: z.string() }).nullish(),
  baseRefName: z.string(),
  mergeable: z.string(),
  mergeStateStatus: z.string(),
  reviewDecision: z.string().nullish(),
  commits: z.object({
    nodes: z
      .array(
        z
          .object({
            commit: z.object({
              oid: z.string(),
              statusCheckRollup: z.object({ state: z.string() }).nullish(),
            }),
          })
          .nullable(),
      )
      .nullish(),
  }),
});
export type PolledPullRequest = z.infer<typeof PolledPullRequest>;

/** One repository of the answer; which pull requests stand under which names, the query decides. */
export const PolledRepo = z.looseObject({
  nameWithOwner: z.string(),
  newest: z.object({ nodes: z.array(z.unknown()).nullish() }).optional(),
});

const verdicts: ReadonlyMap<string, 'approved' | 'changes_requested'> = new Map([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes_requested'],
]);
const conclusions: ReadonlyMap<string, 'success' | 'failure'> = new Map([
  ['SUCCESS', 'success'],
  ['FAILURE', 'failure'],
  ['ERROR', 'failure'],
]);

/** What the reviews come to; undefined when they come to nothing yet. */
export function verdictOf({
  reviewDecision,
}: PolledPullRequest): 'approved' | 'changes_requested' | undefined {
  return verdicts.get(reviewDecision ?? '');
}

/** What the checks of the head commit come to; undefined while some are still running, or there are none. */
export function checksOf({ commits, headRefOid }: PolledPullRequest): 'success' | 'failure' | undefined {
  const commit = commits.nodes?.at(-1)?.commit;
  if (commit?.oid !== headRefOid) return undefined;
  return conclusions.get(commit.statusCheckRollup?.state ?? '');
}

/** The pull request as a delivery's payload writes it. */
export function asDelivered(polled: PolledPullRequest): Record<string, unknown> {
  return {
    number: polled.number,
    title: polled.title,
    html_url: polled.url,
    state: polled.state === 'OPEN' ? 'open' : 'closed',
    draft: polled.isDraft,
    merged: polled.merged,
    merged_at: polled.mergedAt,
    merged_by: polled.mergedBy,
    merge_commit_sha: polled.mergeCommit?.oid,
    mergeable: polled.mergeable === 'UNKNOWN' ? null : polled.mergeable === 'MERGEABLE',
    mergeable_state: polled.mergeStateStatus.toLowerCase(),
    user: polled.author,
    created_at: polled.createdAt,
    updated_at: polled.updatedAt,
    closed_at: polled.closedAt,
    head: {
      ref: polled.headRefName,
      sha: polled.headRefOid,
      repo: polled.headRepository && { full_name: polled.headRepository.nameWithOwner },
    },
    base: { ref: polled.baseRefName },
  };
}
