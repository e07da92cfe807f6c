// Agents that must not go on: of a run that is over, of a worker that has come to its end, or silent for too long.
import { isEnded } from '../deploy/standing.ts';
import type { Worker } from '../state/worker.ts';
import type { Act, LiveAgent, Patience, PlannedRun, World } from './acts.ts';
import { later } from './wave-standing.ts';

export function agentEnds(world: World, { run, limits }: PlannedRun, patience: Patience): Act[] {
  const { orchestrator, state } = run;
  if (state === 'unknown') return [];
  const isOver = state === 'canceled' || state === 'completed';
  const acts: Act[] = [];
  for (const [key, agent] of world.processes) {
    if (!key.startsWith(`${orchestrator}/`)) continue;
    const ticket = key.slice(orchestrator.length + 1);
    const why = isOver ? 'run-over' : whyEnded(world.workers.get(key), patience, world.now);
    if (why !== undefined) acts.push({ kind: 'end', orchestrator, ticket, why });
    else if (isSilent(agent, limits.stallAfterSec, world.now))
      acts.push({ kind: 'end-hanging', orchestrator, ticket, silentSince: agent.lastActivityAt });
  }
  return acts;
}

function whyEnded(
  worker: Worker | undefined,
  { afterEndSec }: Patience,
  now: string,
): 'canceled' | 'worker-ended' | undefined {
  if (worker === undefined || !isEnded(worker.status)) return undefined;
  if (worker.status === 'canceled') return 'canceled';
  return later(worker.statusSince, afterEndSec) <= now ? 'worker-ended' : undefined;
}

/** Making a worktree may take its time, and has limits of its own. */
function isSilent({ state, lastActivityAt }: LiveAgent, stallAfterSec: number, now: string): boolean {
  return state === 'running' && later(lastActivityAt, stallAfterSec) <= now;
}
