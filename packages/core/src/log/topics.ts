// The closed list of topics. Identifiers are fields of a line, never part of its topic, so that the list
// can be complete and a filter on a topic that cannot exist can be refused.
import type { z } from 'zod';
import { nearest } from '../nearest.ts';
import { codehostTopics } from './codehost-details.ts';
import { ownTopics } from './own-details.ts';
import { matchesGlob } from './topic-glob.ts';
import { trackerTopics } from './tracker-details.ts';

const detailSchemas = { ...codehostTopics, ...trackerTopics, ...ownTopics };

export type Topic = keyof typeof detailSchemas;

/** The detail of a topic's lines. */
export type DetailOf<Name extends Topic> = z.infer<(typeof detailSchemas)[Name]>;

export const topics: readonly Topic[] = Object.keys(detailSchemas).filter(isTopic);

export function isTopic(text: string): text is Topic {
  return Object.hasOwn(detailSchemas, text);
}

export function detailSchemaFor<Name extends Topic>(topic: Name): (typeof detailSchemas)[Name] {
  return detailSchemas[topic];
}

/** The topics that a glob selects; none means that waiting for it would be waiting for ever. */
export function topicsMatching(glob: string): Topic[] {
  return topics.filter((topic) => matchesGlob(glob, topic));
}

/** The topic most likely meant, when the text is only a slip away from one. */
export function suggestTopic(text: string): Topic | undefined {
  const suggestion = nearest(text, topics);
  return suggestion !== undefined && isTopic(suggestion) ? suggestion : undefined;
}
