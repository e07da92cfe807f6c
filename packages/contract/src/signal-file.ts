// The worker signal file, `${SVC_RUNS_DIR}/<orchId>/workers/<ticket>.json`: a worker's report about itself. Lenient on
// purpose, because other tools write it too: unknown fields survive a rewrite, an optional field may be null, and a
// phase may be a name or a number.
import { z } from 'zod';
import { workerStatuses } from './worker-statuses.ts';

export const WorkerStatus = z.enum(workerStatuses);
export const WorkerPhase = z.union([z.string(), z.int()]);

const time = z.iso.datetime({ offset: true });
const text = z.string().nullish();

/** One failed deployment. A deployment counts once, however often its failure is reported. */
export const DeployAttempt = z.looseObject({
  deploymentId: z.int(),
  state: z.enum(['failure', 'error']).nullish(),
  failedAt: time.nullish(),
  description: text,
  logUrl: text,
});

export const SignalPullRequest = z.looseObject({
  number: z.int().positive().nullish(),
  url: text,
  state: text,
  isDraft: z.boolean().nullish(),
  mergeState: text,
  ciStatus: text,
  openedAt: time.nullish(),
  mergedAt: time.nullish(),
  mergeSha: text,
});

export const SignalDeploy = z.looseObject({
  environment: text,
  deploymentId: z.int().nullish(),
  attempts: z.array(DeployAttempt).nullish(),
  startedAt: time.nullish(),
  deadline: time.nullish(),
  completedAt: time.nullish(),
  result: text,
});

export const SignalFile = z.looseObject({
  ticket: z.string().min(1),
  orchestrator: z.string().min(1),
  workerName: z.string().min(1),
  status: WorkerStatus,
  phase: WorkerPhase,
  startedAt: time,
  updatedAt: time,
  repo: text.describe('owner/name'),
  branch: text,
  wave: z.int().nullish(),
  worktreePath: text,
  pid: z.int().positive().nullish(),
  pidStartedAt: z.union([z.string(), z.number()]).nullish().describe('detects a reused pid'),
  pr: SignalPullRequest.nullish(),
  deploy: SignalDeploy.nullish(),
  verification: z.looseObject({}).nullish(),
  cost: z
    .looseObject({
      usd: z.number().nullish(),
      inputTokens: z.int().nullish(),
      outputTokens: z.int().nullish(),
    })
    .nullish(),
  phaseTimestamps: z.record(z.string(), z.unknown()).nullish(),
  error: text,
});

export type WorkerStatus = z.infer<typeof WorkerStatus>;
export type WorkerPhase = z.infer<typeof WorkerPhase>;
export type DeployAttempt = z.infer<typeof DeployAttempt>;
export type SignalPullRequest = z.infer<typeof SignalPullRequest>;
export type SignalDeploy = z.infer<typeof SignalDeploy>;
export type SignalFile = z.infer<typeof SignalFile>;

const repoName = /^[A-Za-z0-9_-]+\/[A-Za-z0-9._-]+$/;
const pullRequestUrl = /^https?:\/\/[^/]+\/([A-Za-z0-9_-]+\/[A-Za-z0-9._-]+)\/pull\/\d+/;

/** The worker's `owner/name`: its `repo`, else the one in the address of its pull request. */
export function repoOfSignal(signal: Pick<SignalFile, 'repo' | 'pr'>): string | undefined {
  if (signal.repo && repoName.test(signal.repo)) return signal.repo;
  return pullRequestUrl.exec(signal.pr?.url ?? '')?.[1];
}

// Names that become a part of a path: a run's folder, a worker's file.

const segment = /^(?!\.)[A-Za-z0-9._-]{1,120}$/;

/** Whether it names exactly one file or folder. A leading dot is for hidden and temporary files. */
export function safeSegment(name: string): boolean {
  return segment.test(name);
}
