// What a helper may report. What the code host and the tracker did, only their own deliveries can say, and
// of the daemon and of what its rules did only the daemon itself speaks: such a line has a command run.
const families = ['orchestrator.', 'workflow.', 'comms.', 'feedback.', 'archive.'];

export function isHelperTopic(topic: string): boolean {
  return !topic.startsWith('workflow.rule.') && families.some((family) => topic.startsWith(family));
}
