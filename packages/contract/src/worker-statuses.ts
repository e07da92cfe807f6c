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

const shownStatuses: Readonly<Record<WorkerStatus, string>> = {
  dispatched: 'starting',
  researching: 'researching',
  planning: 'planning',
  implementing: 'implementing',
  validating: 'validating',
  shipping: 'preparing a pull request',
  'pr-created': 'in review',
  merging: 'merging',
  merged: 'merged',
  deploying: 'deploying',
  'deploy-failed': 'deploy failed',
  done: 'done',
  failed: 'failed',
  stalled: 'stalled',
  canceled: 'canceled',
};

/** The words for a status in texts for people: `pr-created` is a value of a field. An unknown status is shown as it is. */
export function shownStatus(status: string): string {
  return isStatus(status) ? shownStatuses[status] : status;
}

function isStatus(status: string): status is WorkerStatus {
  return Object.hasOwn(shownStatuses, status);
}

/** How the rule of a status begins that only its agent has reported. */
export function agentSays(status: string): string {
  return `The agent says: ${shownStatus(status)}`;
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
