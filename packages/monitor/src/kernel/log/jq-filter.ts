// A jq filter over events for a caller that can block on it: the CLI. The daemon filters in a thread (`jq-threads.ts`).
import { Failure } from '../failure.ts';
import { impossibleTopicIn } from './event-filter.ts';
import { createJqEngine, JqRefused, JqTooLarge, type LineFilter } from './jq-engine.ts';

import type { TopicTable } from './topics.ts';

export type { LineFilter };

export async function createJqFilter(topics: TopicTable, text: string): Promise<LineFilter> {
  refuseImpossible(topics, text);
  try {
    return await createJqEngine(text);
  } catch (error) {
    throw error instanceof JqRefused || error instanceof JqTooLarge ? unusable(error.message) : error;
  }
}

/** Waiting for a topic that no event can have would never end. */
export function refuseImpossible(topics: TopicTable, text: string): void {
  const impossible = impossibleTopicIn(topics, text);
  if (impossible === undefined) return;
  throw new Failure(
    'usage',
    `No event can have the topic ${impossible}.`,
    'List the topics: svc events topics',
  );
}

export function unusable(why: string): Failure {
  return new Failure('usage', `The jq filter is not valid: ${why}`);
}
