// What a helper may report. What the code host and the tracker did, only their own deliveries can say, and
// of the daemon only the daemon itself speaks.
const families = ['orchestrator.', 'workflow.', 'comms.', 'feedback.', 'archive.'];

export function isHelperTopic(topic: string): boolean {
  return families.some((family) => topic.startsWith(family));
}
