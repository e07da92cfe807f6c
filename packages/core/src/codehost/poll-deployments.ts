// Deployments of a commit as a reconciliation finds them: what the log does not say yet becomes events. Each
// state of a deployment is told once, in the order in which it came.
import { z } from 'zod';
import type { EventDraft } from '../log/event-line.ts';
import { mapCodehost } from '../receive/map-codehost.ts';

export const PolledDeployment = z.looseObject({
  id: z.int(),
  sha: z.string(),
  environment: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export const PolledDeploymentStatus = z.looseObject({
  id: z.int(),
  state: z.string(),
  created_at: z.string(),
});
export type PolledDeployment = z.infer<typeof PolledDeployment>;
export type PolledDeploymentStatus = z.infer<typeof PolledDeploymentStatus>;

export function deploymentDifferences(
  repo: string,
  deployment: PolledDeployment,
  statuses: readonly PolledDeploymentStatus[],
  /** The states that the log has; undefined when it does not know the deployment. */
  told: ReadonlySet<string> | undefined,
): EventDraft[] {
  const shared = { deployment, repository: { full_name: repo } };
  const drafts: EventDraft[] = [];
  const tell = (type: string, what: string, more: Record<string, unknown>): void => {
    const deliveryId = `poll:${repo}:deployment-${deployment.id}:${what}`;
    const mapping = mapCodehost(type, { ...shared, ...more }, { deliveryId, via: 'poll' });
    if (mapping.ok) drafts.push({ ...mapping.draft, source: 'codehost.poll' });
  };
  if (told === undefined) tell('deployment', 'created', { action: 'created' });
  const seen = new Set(told);
  for (const status of statuses.toSorted(
    (one, other) => Date.parse(one.created_at) - Date.parse(other.created_at),
  )) {
    if (seen.has(status.state)) continue;
    seen.add(status.state);
    tell('deployment_status', status.state, { action: 'created', deployment_status: status });
  }
  return drafts;
}
