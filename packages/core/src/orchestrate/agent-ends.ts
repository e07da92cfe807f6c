// What must not go on: every agent and every worker of a run that is over, the agent of a worker that has come to its
// end, and an agent that is silent for too long.
import { isEnded, isInPersonsHands } from '../deploy/standing.ts';
import type { Worker } from '../state/worker.ts';
import type { Act, LiveAgent, Patience, PlannedRun, World } from './acts.ts';
import { later } from './wave-standing.ts';

export function agentEnds(world: World, { run, limits }: PlannedRun, patience: Patience): Act[] {
  const { orchestrator, state } = run;
  if (state === 'unknown') return [];
  if (state === 'canceled' || state === 'completed') return endsOfRun(world, orchestrator);
  const acts: Act[] = [];
  for (const [key, agent] of world.processes) {
    if (!key.startsWith(`${orchestrator}/`)) continue;
    const ticket = key.slice(orchestrator.length + 1);
    const why = whyEnded(world.workers.get(key), patience, world.now);
    if (why !== undefined) acts.push({ kind: 'end', orchestrator, ticket, why });
    else if (isSilent(agent, limits.stallAfterSec, world.now))
      acts.push({ kind: 'end-hanging', orchestrator, ticket, silentSince: agent.lastActivityAt });
  }
  return acts;
}

/** A worker ends with its run whether or not it has a process: it waited for a revival, a person or a review. */
function endsOfRun({ processes, workers }: World, orchestrator: string): Act[] {
  const keys = new Set([...processes.keys()].filter((key) => key.startsWith(`${orchestrator}/`)));
  for (const worker of workers.values())
    if (worker.orchestrator === orchestrator && endsWithItsRun(worker)) keys.add(worker.key);
  return [...keys].map((key) => {
    const ticket = key.slice(orchestrator.length + 1);
    return { kind: 'end', orchestrator, ticket, why: 'run-over' };
  });
}

/** From the merge on, what ships decides. A file that is gone or cannot be read is not written. */
export function endsWithItsRun({ status, merge, removed, corrupt }: Worker): boolean {
  if (merge !== null || removed || corrupt !== null) return false;
  return status !== 'canceled' && isInPersonsHands(status);
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
