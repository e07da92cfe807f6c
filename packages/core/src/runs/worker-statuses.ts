// The words for where a worker is. Apart from the schema of its file, so that a web page can use them.
/** In the order in which a worker comes through them; then those that end or interrupt its way. */
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

/** Until here the work is the agent's. Later, reviewers and deploys have their turn without it. */
export function isAgentsWork(status: WorkerStatus): boolean {
  return agentsWork.has(status);
}
