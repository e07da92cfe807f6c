// How many lines there are over time, by the family of their topic.
export const eventFamilies = [
  'codehost',
  'tracker',
  'orchestrator',
  'workflow',
  'comms',
  'monitor',
  'feedback',
  'archive',
] as const;

export type EventFamily = (typeof eventFamilies)[number];

export type EventCounts = {
  from: string;
  to: string;
  bucketMs: number;
  total: number;
  /** Oldest first, without a gap; `at` is where a bucket begins. */
  buckets: { at: string; count: number; families: Partial<Record<EventFamily, number>> }[];
  /** The last line that was counted: earlier than the log's end while the index catches up. */
  indexedTo: number;
  /** False when counting took too long: the oldest buckets are then short. */
  complete: boolean;
};

/** `codehost` of `codehost.pr.merged`; undefined for a topic of no family. */
export function familyOf(topic: string): EventFamily | undefined {
  const dot = topic.indexOf('.');
  const name = dot < 0 ? topic : topic.slice(0, dot);
  return eventFamilies.find((family) => family === name);
}
