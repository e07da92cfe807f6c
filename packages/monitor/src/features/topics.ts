// The closed list of topics. Identifiers are fields of a line, never part of its topic, so the list is complete and a
// filter on a topic that does not exist can be refused.
import { nearest } from '@svc/lib/nearest';
import type { z } from 'zod';
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

/**
 * Whether a topic matches a glob, in which `*` stands for any characters, including dots.
 * Takes linear time for any glob, which a regular expression would not.
 * `matchesGlob('codehost.pr.*', 'codehost.pr.merged')`
 */
export function matchesGlob(glob: string, topic: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let resume = 0;
  while (at < topic.length) {
    if (glob[inGlob] === '*') {
      star = inGlob;
      inGlob += 1;
      resume = at;
    } else if (glob[inGlob] === topic[at]) {
      inGlob += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      inGlob = star + 1;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob += 1;
  return inGlob === glob.length;
}

const detailSchemas = {
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
};

export type Topic = keyof typeof detailSchemas;

/** The detail of events with a topic. */
export type DetailOf<Name extends Topic> = z.infer<(typeof detailSchemas)[Name]>;

export const topics: readonly Topic[] = Object.keys(detailSchemas).filter(isTopic);

export function isTopic(text: string): text is Topic {
  return Object.hasOwn(detailSchemas, text);
}

export function detailSchemaFor<Name extends Topic>(topic: Name): (typeof detailSchemas)[Name] {
  return detailSchemas[topic];
}

/** The topics that a glob matches; with none, waiting for it would never end. */
export function topicsMatching(glob: string): Topic[] {
  return topics.filter((topic) => matchesGlob(glob, topic));
}

/** The topic that was probably meant, if the text is only a typo away from one. */
export function suggestTopic(text: string): Topic | undefined {
  const suggestion = nearest(text, topics);
  return suggestion !== undefined && isTopic(suggestion) ? suggestion : undefined;
}
