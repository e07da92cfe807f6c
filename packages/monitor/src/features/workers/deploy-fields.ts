// What a worker keeps of its deploy.
import { WorkerStatus } from '@svc/contract/signal-file';
import { z } from 'zod';
import { Seq, Time } from '../../kernel/http/api-route.ts';

export type DeployPolicy = z.infer<typeof DeployPolicy>;
const DeployPolicy = z
  .object({
    timeoutSec: z.number(),
    productionEnvironment: z.string(),
    stagingEnvironment: z.string(),
    skipDeployVerification: z.boolean().nullable().describe('null while the configuration cannot be read'),
    acceptDescendants: z.boolean(),
  })
  .describe('How deployments of its repository are verified');

export type DeployProgress = z.infer<typeof DeployProgress>;
const DeployProgress = z.object({
  environment: z.string(),
  deploymentId: z.int().nullable().describe('The newest deployment of the merge'),
  attempts: z.array(
    z.object({
      deploymentId: z.int(),
      state: z.enum(['failure', 'error']),
      failedAt: Time,
      description: z.string().optional(),
      logUrl: z.string().optional(),
    }),
  ),
  retried: z
    .object({
      times: z.int(),
      failedUpTo: z.int().nullable(),
      at: Time.exactOptional().describe('The last one'),
      seq: Seq.exactOptional(),
    })
    .exactOptional()
    .describe('Retries by a person; absent if there were none'),
  startedAt: Time.nullable(),
  deadline: Time.describe('When the ticket becomes stalled'),
  completedAt: Time.nullable(),
  result: z.enum(['success', 'accepted', 'budget-exhausted', 'timeout']).nullable(),
  containedIn: z.array(z.string()).describe('Commits proven to contain the merge, newest last'),
  carriedBy: z
    .array(z.object({ pr: z.int(), sha: z.string() }))
    .exactOptional()
    .describe('Pull requests that it was stacked on, with the commits that they were merged as'),
  provenBy: z.object({ deploymentId: z.int(), sha: z.string() }).nullable(),
});

const Claim = z.object({ status: WorkerStatus, at: Time, seq: Seq, old: z.literal(true).exactOptional() });

export const deployFields = {
  status: WorkerStatus,
  claim: Claim.nullable().describe('The status in its signal file, when it is not accepted'),
  policy: DeployPolicy,
  merge: z.object({ sha: z.string().nullable(), at: Time, seq: Seq }).nullable(),
  deploy: DeployProgress.nullable(),
};
export type DeployWorker = z.infer<z.ZodObject<typeof deployFields>>;

export const defaultDeployPolicy: DeployPolicy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: true,
  acceptDescendants: true,
};
