// What the worker's signal file says. It is believed on the way to a merge, and never on the merge itself nor
// on what shipped: there it is kept beside what is known, so that the contradiction can be shown.
import type { WorkerStatus } from '../runs/signal-file.ts';
import type { DeployEffect, DeployFact, DeployStep, DeployWorker } from './deploy-worker.ts';
import { moved, unmoved } from './moved.ts';
import { beginLifecycle } from './on-merged.ts';
import { isInLifecycle } from './standing.ts';

const needProof: ReadonlySet<WorkerStatus> = new Set(['merged', 'deploying', 'deploy-failed', 'done']);

export function onClaimed(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'claimed' }>): DeployStep {
  const { status, at, seq, old = false } = fact;
  if (status === worker.status)
    return worker.claim === null ? unmoved(worker) : moved(worker, { ...worker, claim: null }, []);
  if (status === worker.claim?.status) return unmoved(worker);
  const claim = { status, at, seq, ...(old && { old }) };
  if (isInLifecycle(worker)) return moved(worker, { ...worker, claim }, []);
  if (!needProof.has(status)) return moved(worker, { ...worker, status, claim: null }, []);
  // The merge came while the worker was canceled, and it was taken up again since.
  if (worker.merge !== null && worker.status !== 'canceled')
    return beginLifecycle(worker, worker.merge, claim);
  const effects: DeployEffect[] = [{ kind: 'refresh-pull-request' }];
  if (status === 'done' && !old)
    effects.push({
      kind: 'raise',
      reason: 'done-unproven',
      message: 'The worker says that it is done, but no merged pull request is known',
      severity: 'medium',
      remedy: 'svc deploy accept',
    });
  return moved(worker, { ...worker, claim }, effects);
}
