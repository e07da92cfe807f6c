// The label of the deploy of a worker's merge.
import type { StateLabel } from '../../kernel/board/label.ts';
import type { WorkerView } from '../workers/entity.ts';

/** Null before the merge. */
export function deployLabel(
  worker: Pick<WorkerView, 'deploy' | 'status' | 'attempts' | 'budget'>,
): StateLabel | null {
  const { deploy, attempts, budget } = worker;
  if (deploy === null) return null;
  const { environment, deploymentId, result } = deploy;
  const failures = `${attempts} of ${budget} attempts failed`;
  const more = attempts === 0 ? '' : `, ${failures}`;
  if (result === 'success') return { meaning: 'proven', words: `live in ${environment}` };
  if (result === 'accepted') return { meaning: 'unknown', words: `${environment}: accepted by a person` };
  if (result === 'timeout') return { meaning: 'broken', words: `${environment}: timed out` };
  if (result === 'budget-exhausted' || worker.status === 'deploy-failed')
    return { meaning: 'broken', words: `${environment}: ${failures}` };
  return deploymentId === null
    ? { meaning: 'unknown', words: `${environment}: not started${more}` }
    : { meaning: 'motion', words: `${environment}: in progress${more}` };
}
