// Whether the process of a worker runs: by its own events, and by those of the agent that svc started and talks to.
import type { Worker } from './worker.ts';

type Known = Pick<Worker, 'process' | 'agent'>;

/**
 * The later of the two counts. The events of a process report only changes, so a process that never ended has none. An
 * agent of before a restart by a person says nothing about the next one.
 */
export function processOf({ process, agent }: Known): Worker['process'] {
  if (agent === null) return process;
  if (agent.suspended !== undefined && Date.parse(agent.suspended.at) >= Date.parse(process.since))
    return { state: 'dead', since: agent.suspended.at, seq: process.seq };
  const isLater = Date.parse(agent.since) >= Date.parse(process.since);
  if (agent.state === 'ended')
    return isLater && process.state !== 'dead'
      ? { state: 'dead', since: agent.since, seq: process.seq }
      : process;
  if (process.state !== 'unknown' || (agent.state === null && !isLater)) return process;
  return { ...process, state: 'alive' };
}
