// Topic families, by which events are counted over time. The page imports this file, so it needs no schema.

export const eventFamilies = [
  'codehost',
  'tracker',
  'orchestrator',
  'workflow',
  'comms',
  'monitor',
  'feedback',
  'archive',
  'agent',
  'session',
  'team',
] as const;

export type EventFamily = (typeof eventFamilies)[number];

/** `codehost` for `codehost.pr.merged`; undefined for a topic outside all families. */
export function familyOf(topic: string): EventFamily | undefined {
  const dot = topic.indexOf('.');
  const name = dot < 0 ? topic : topic.slice(0, dot);
  return eventFamilies.find((family) => family === name);
}
