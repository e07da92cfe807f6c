// Tells what happens to one ticket: its state, its worker, its pull request, its deployments. Each word becomes a
// fact at a minute of the day.
import { createAttentionTeller } from './attention-teller.ts';
import type { PlannedTicket } from './product.ts';
import { branchOf, createPullRequestTeller } from './pull-request-teller.ts';
import { createShipTeller } from './ship-teller.ts';
import type { Told } from './told.ts';
import { createWorkTeller } from './work-teller.ts';

export type ChangeTeller = ReturnType<typeof createChangeTeller>;

export function createChangeTeller(told: Told, planned: PlannedTicket) {
  const work = createWorkTeller(told, planned, branchOf(told, planned));
  const pullRequest = createPullRequestTeller(told, planned, work);
  return {
    ...work,
    ...pullRequest,
    ...createShipTeller(told, planned, pullRequest),
    ...createAttentionTeller(told, planned),
  };
}
