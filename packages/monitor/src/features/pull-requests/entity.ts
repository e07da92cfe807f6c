// A pull request as the API shows it.
import { z } from 'zod';
import { key, last } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { EventVia } from '../../kernel/log/event-line.ts';

export type PullRequestView = z.infer<typeof PullRequest>;

export const PullRequest = z
  .object({
    key,
    name: z.string().describe('owner/name#number'),
    repo: z.string(),
    number: z.int(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    author: z.string().nullable(),
    branch: z.string().nullable(),
    headRepo: z.string().nullable(),
    base: z.string().nullable(),
    ticket: z.string().nullable(),
    state: z.enum(['open', 'closed', 'merged']),
    draft: z.boolean().nullable(),
    mergeable: z.boolean().nullable(),
    mergeableState: z.string().nullable(),
    headSha: z.string().nullable(),
    checks: z.array(
      z.object({
        name: z.string(),
        suiteId: z.int().nullable(),
        conclusion: z.string().nullable().describe('Null while it is running'),
        at: Time.nullable(),
        seq: Seq,
      }),
    ),
    reviews: z.array(z.object({ reviewer: z.string(), state: z.string(), at: Time.nullable(), seq: Seq })),
    reviewDecision: z.enum(['approved', 'changes_requested']).nullable(),
    unresolvedThreads: z.array(z.string()),
    previews: z.array(z.string()).describe('URLs of preview deployments'),
    openedAt: Time.nullable(),
    merge: z.object({ sha: z.string().nullable(), at: Time, seq: Seq, via: z.string() }).nullable(),
    closedAt: Time.nullable(),
    firstSeq: Seq,
    firstVia: EventVia,
    via: EventVia,
    readiness: z
      .object({ ready: z.boolean().nullable(), reasons: z.array(z.string()) })
      .describe('Whether it can be merged now; null: unknown'),
    ...last,
  })
  .meta({ id: 'PullRequest' });
