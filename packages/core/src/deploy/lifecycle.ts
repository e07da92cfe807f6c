import type { DeployFact, DeployStep, DeployWorker } from './deploy-worker.ts';
import { onClaimed } from './on-claimed.ts';
import { onContains, onDeployment } from './on-deployment.ts';
import { onMerged } from './on-merged.ts';
import { onPerson } from './on-person.ts';
import { onTime } from './on-time.ts';

/**
 * How a worker's merge becomes done: the only implementation. A worker is in one of these modes:
 *
 * before the merge: `dispatched` up to `merging`, and `failed` or `stalled` as the worker says of itself
 *   entered by: its signal file, which is believed here
 *   left by:    a merged pull request, to `merged`, or to `done` where the policy skips the proof;
 *               a person who accepts its unproven claim to be done, to `done`
 * `canceled`: a person's word
 *   entered by: the signal file, before the merge
 *   left by:    the signal file, back before the merge; a merge is only noted
 * `merged` without a deploy: nobody knows whether the merge has to be proven, because the configuration cannot be read
 *   entered by: the merge, while the policy is unknown
 *   left by:    the merge told again under a known policy: `merged` with a deploy, or `done`; a person's accept, to `done`
 * `merged`: waiting for a deployment to start
 *   entered by: the merge, or a person's retry
 *   left by:    a start, to `deploying`; a success, through `deploying` to `done`; a failure, to
 *               `deploy-failed`; the deadline, to `stalled`; a person's accept, to `done`
 * `deploying`: waiting for a deployment to succeed
 *   entered by: the start of a deployment newer than all that were seen
 *   left by:    a success of any deployment, to `done`; a failure of the newest one, or the third failure, to
 *               `deploy-failed`; the deadline, to `stalled`; a person's accept, to `done`
 * `deploy-failed` within the budget: waiting for another deployment
 *   entered by: a failure, as long as fewer than three deployments have failed
 *   left by:    a newer start, to `deploying`; a success, to `done`; the third failure, to the mode below; the
 *               deadline, to `stalled`; a person's retry, to `merged`, or accept, to `done`
 * `deploy-failed`, budget exhausted
 *   entered by: the third failed deployment
 *   left by:    a person alone: retry, to `merged`; accept, to `done`
 * `stalled` after a merge: the deadline passed
 *   entered by: time, from every mode that waits
 *   left by:    a success, to `done`, for it did ship; a person's retry, to `merged`, or accept, to `done`
 * `done`
 *   entered by: a success, a person's accept, or a merge that needs no proof
 *   left by:    nothing
 *
 * A deployment counts when it is in the policy's production environment and of the merge commit, or of a
 * commit that git proved to contain it. An attempt is a failed deployment, however often that is reported.
 * From the merge on the signal file moves nothing; where it says otherwise, that is kept as `claim`.
 *
 * The answer to a fact that changes nothing is the same worker object. It asks for nothing either, with one
 * exception: a deployment of an unknown commit asks for its proof each time that it is told.
 *
 *     deployStep(merged, { kind: 'deployment', state: 'success', … }).worker.status // 'done'
 */
export function deployStep<W extends DeployWorker>(worker: W, fact: DeployFact): DeployStep<W> {
  // Every answer is the given worker, or a copy of it with other fields of DeployWorker.
  return answer(worker, fact) as DeployStep<W>;
}

function answer(worker: DeployWorker, fact: DeployFact): DeployStep {
  switch (fact.kind) {
    case 'merged':
      return onMerged(worker, fact);
    case 'deployment':
      return onDeployment(worker, fact);
    case 'contains':
      return onContains(worker, fact);
    case 'time':
      return onTime(worker, fact);
    case 'person':
      return onPerson(worker, fact);
    case 'claimed':
      return onClaimed(worker, fact);
  }
}
