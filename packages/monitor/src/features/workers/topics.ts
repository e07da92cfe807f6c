// The detail of events about workers.

import { WorkerPhase, WorkerStatus } from '@svc/contract/signal-file';
import { z } from 'zod';
import { count, Detail, text, time, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { recallCauses } from './reaction-causes.ts';

/** `signal` is the signal file after the change, so a reducer never has to read a file. `hash` identifies its content. */
const WorkerDetail = Detail.extend({
  signal: z.record(z.string(), z.unknown()).optional(),
  hash: text,
  changed: z.array(z.string()).optional().describe('the changed fields of the file'),
  reason: text,
});

const WorkerDispatchedDetail = WorkerDetail.extend({ command: text, model: text, worktreePath: text });

const WorkerStatusDetail = WorkerDetail.extend({ from: WorkerStatus.optional(), to: WorkerStatus });

const WorkerPhaseDetail = WorkerDetail.extend({ from: WorkerPhase.optional(), to: WorkerPhase });

const WorkerProcessDetail = WorkerDetail.extend({
  pid: z.int().positive().optional(),
  lastSeenAt: time,
  willRevive: z.boolean().optional().describe('true when a new process is about to start'),
  stderr: text.describe('the last lines of its standard error'),
});

/** A person restarts the worker. */
const WorkerRetriedDetail = Detail.extend({ by: z.string(), note: text });

/** Its agent is started again to handle failed checks, a review or a message. */
const WorkerRecallDetail = Detail.extend({
  reason: z.enum(recallCauses),
  number: count.describe('how often for this reason, from 1'),
});

const WorkerCorruptDetail = Detail.extend({ path: z.string(), problem: z.string() });

/** A poll of the code host found no pull request for a worker that claims one. */
const ClaimUnseenDetail = Detail.extend({ status: WorkerStatus });

export const workerTopics = {
  ...topicFamily('orchestrator.worker', ['dispatched'], WorkerDispatchedDetail),
  ...topicFamily('orchestrator.worker', ['status_changed'], WorkerStatusDetail),
  ...topicFamily('orchestrator.worker', ['phase_changed'], WorkerPhaseDetail),
  ...topicFamily('orchestrator.worker', ['updated'], WorkerDetail),
  ...topicFamily('orchestrator.worker', ['died', 'revived', 'removed'], WorkerProcessDetail),
  ...topicFamily('orchestrator.worker', ['corrupt'], WorkerCorruptDetail),
  ...topicFamily('orchestrator.worker', ['retried'], WorkerRetriedDetail),
  ...topicFamily('orchestrator.worker', ['recalled'], WorkerRecallDetail),
  ...topicFamily('monitor.claim', ['unseen'], ClaimUnseenDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof workerTopics> {}
}
