// Ends what agents left running when nobody saw their end: each that is found gone is looked after once.
import { workerKey } from '@svc/core';
import type { Logger } from 'pino';
import type { FoundAgent } from '../agents/find-again.ts';
import { endLeftBehind } from '../agents/left-behind.ts';

export type Leftovers = { end: (agents: readonly FoundAgent[]) => void };

export function createLeftovers({ logger }: { logger: Logger }): Leftovers {
  const looked = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  async function endOf({ orchestrator, ticket, attempt }: FoundAgent, pid: number): Promise<void> {
    const worker = workerKey(orchestrator, ticket);
    try {
      const left = await endLeftBehind({ pid, orchestrator, ticket });
      if (left !== 'none') logger.warn({ worker, attempt, pid, left }, 'an agent left processes behind');
    } catch (error) {
      logger.error({ err: error, worker, attempt, pid }, 'what an agent left behind cannot be ended');
    }
  }

  return {
    end(agents) {
      for (const agent of agents) {
        const name = `${workerKey(agent.orchestrator, agent.ticket)} ${agent.attempt}`;
        if (agent.state !== 'gone' || agent.pid === null || looked.has(name)) continue;
        const { pid } = agent;
        looked.add(name);
        before = before.then(() => endOf(agent, pid));
      }
    },
  };
}
