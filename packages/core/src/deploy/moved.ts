// The two answers of a step: nothing happened, or the worker moved.
import type { DeployEffect, DeployStep, DeployWorker } from './deploy-worker.ts';
import { openReasons } from './standing.ts';

export function unmoved(worker: DeployWorker): DeployStep {
  return { worker, effects: [] };
}

/** A claim that came true is none any more, and what was open for a person before and is not now is resolved. */
export function moved(before: DeployWorker, after: DeployWorker, effects: DeployEffect[]): DeployStep {
  const worker = after.claim?.status === after.status ? { ...after, claim: null } : after;
  const open = openReasons(worker);
  const resolved = openReasons(before)
    .filter((reason) => !open.includes(reason))
    .map((reason): DeployEffect => ({ kind: 'resolve', reason }));
  return { worker, effects: [...effects, ...resolved] };
}
