// The topics of every feature, and the types of their lines.
import { createTopicTable } from '../kernel/log/topics.ts';
import { createTypedLines } from '../kernel/log/typed-line.ts';
import { agentTopics } from './agents/topics.ts';
import { archiveTopics } from './archive/topics.ts';
import { attentionDetails } from './attention/topics.ts';
import { codehostTopics } from './codehost/topics.ts';
import { deployTopics } from './deploy/topics.ts';
import { feedTopics } from './feeds/topics.ts';
import { findingTopics } from './findings/topics.ts';
import { daemonTopics } from './health/topics.ts';
import { retentionTopics } from './retention/topics.ts';
import { ruleTopics } from './rules/topics.ts';
import { runTopics } from './runs/topics.ts';
import { sessionTopics } from './sessions/topics.ts';
import { taskTopics } from './tasks/topics.ts';
import { teamTopics } from './team/topics.ts';
import { trackerTopics } from './tracker/topics.ts';
import { verifyTopics } from './verify/topics.ts';
import { workerTopics } from './workers/topics.ts';

export const topics = createTopicTable({
  ...codehostTopics,
  ...trackerTopics,
  ...runTopics,
  ...workerTopics,
  ...deployTopics,
  ...verifyTopics,
  ...taskTopics,
  ...ruleTopics,
  ...attentionDetails,
  ...feedTopics,
  ...daemonTopics,
  ...findingTopics,
  ...agentTopics,
  ...sessionTopics,
  ...teamTopics,
  ...archiveTopics,
  ...retentionTopics,
});

export const { typedLine, detailOf } = createTypedLines(topics);
