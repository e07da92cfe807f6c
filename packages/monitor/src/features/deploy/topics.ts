// The detail of events about deploys and the policy behind them.
import { z } from 'zod';
import { count, Detail, text, time, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { DispatchEntry } from '../runs/config.ts';

/** How deployments of a repository are verified. */
const Policy = z.object({
  timeoutSec: z.int().positive(),
  productionEnvironment: z.string(),
  stagingEnvironment: z.string(),
  skipDeployVerification: z.boolean().nullable().describe('null: the configuration cannot be read'),
  acceptDescendants: z.boolean(),
});

const DeployDetail = Detail.extend({
  state: text.describe('the deployment state that caused the event'),
  attempts: count.describe('failed deployments so far'),
  budget: count,
  timeoutSec: count,
  deadline: time,
  logUrl: text,
  description: text,
});

/** A person's decision on a failed deploy. */
const DeployDecisionDetail = Detail.extend({ by: z.string(), note: text });

/** The repository `scope.repo` no longer requires a verified deployment; `by` is a person, or the project whose file says so. */
const PolicyRelaxedDetail = Detail.extend({ by: z.string(), project: text, note: text });

/** Whether the deployed commit `scope.sha` contains the merge `scope.mergeSha`, and how that was checked. */
const DescendantDetail = Detail.extend({
  contains: z.boolean(),
  by: z.enum(['git', 'codehost']),
  reverted: z
    .boolean()
    .optional()
    .describe('true: the merge is in its history, but its change was reverted or discarded'),
});

/**
 * The configuration of a project from this line on. Only what decides about later events is included: the deploy
 * policies, by which a merge is done or waits, and what in the tracker starts a run.
 */
const ConfigAppliedDetail = Detail.extend({
  project: z.string().describe('the project folder'),
  served: z.boolean().describe('false: the daemon no longer serves this project'),
  keys: z
    .array(z.string())
    .describe('the keys that changed since the configuration was last applied; empty at a start'),
  deploy: z.record(z.string(), Policy).describe('by owner/repo in lower case'),
  relaxes: z
    .array(z.string())
    .optional()
    .describe('repositories for which the file sets skipDeployVerification to true'),
  others: z.enum(['default', 'unknown']).describe('the policy for all other repositories'),
  tickets: z
    .object({ prefix: z.string(), repo: z.string().optional() })
    .optional()
    .describe('the prefix of its tickets, and its repository, if it names one'),
  dispatch: z
    .object({ prefix: z.string(), entries: z.array(DispatchEntry) })
    .optional()
    .describe('what starts a run: the prefix of its tickets, and the entries for its repository'),
});

export const deployTopics = {
  ...topicFamily('orchestrator.deploy', ['started', 'succeeded', 'failed', 'timed_out'], DeployDetail),
  ...topicFamily('orchestrator.deploy', ['retried', 'accepted'], DeployDecisionDetail),
  ...topicFamily('orchestrator.deploy', ['descendant_checked'], DescendantDetail),
  ...topicFamily('orchestrator.deploy', ['policy_relaxed'], PolicyRelaxedDetail),
  ...topicFamily('monitor.config', ['applied'], ConfigAppliedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof deployTopics> {}
}
