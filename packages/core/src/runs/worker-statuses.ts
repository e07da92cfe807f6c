// The statuses of a worker. Separate from the schema of its file, so that a web page can import them.
/** In the order in which a worker reaches them; then those that end or interrupt its work. */
export const workerStatuses = [
  'dispatched',
  'researching',
  'planning',
  'implementing',
  'validating',
  'shipping',
  'pr-created',
  'merging',
  'merged',
  'deploying',
  'deploy-failed',
  'done',
  'failed',
  'stalled',
  'canceled',
] as const;

type WorkerStatus = (typeof workerStatuses)[number];

const agentsWork: ReadonlySet<WorkerStatus> = new Set(
  workerStatuses.slice(0, workerStatuses.indexOf('pr-created')),
);

/** The word for a status in texts for people: `dispatched` is the name of a field's value. */
export function shownStatus(status: string): string {
  return status === 'dispatched' ? 'starting' : status;
}

/** How the rule of a status begins that only its agent has reported. */
export function agentSays(status: string): string {
  return `The agent says: ${status}`;
}

/** The rule of a ticket; what its agent says, with how long ago it said so. */
export function ruleWithAge(
  { rule, status, since }: { rule: string; status: string; since: string | null },
  ageOf: (since: string) => string,
): string {
  const said = agentSays(status);
  return since === null || !rule.startsWith(said)
    ? rule
    : `${said} (${ageOf(since)})${rule.slice(said.length)}`;
}

/** The worker says that its pull request is open. */
export function claimsPullRequest(status: WorkerStatus): boolean {
  return status === 'pr-created' || status === 'merging';
}

/** Up to here the agent is working. After that, reviews and deploys proceed without it. */
export function isAgentsWork(status: WorkerStatus): boolean {
  return agentsWork.has(status);
}
