// What an agent that runs as a command line reports in its output: its cost, and a usage limit as its result.
import { isUnpaid } from '@svc/core';
import type { AgentLog } from './agent-log.ts';
import { watchOutput } from './output.ts';

/** Of times of files. */
const TOLERANCE_MS = 2_000;

export type CommandLine = {
  /** Logs what its sessions cost so far, every few seconds. */
  logCost: () => void;
  /** Reads the rest and logs it, and a limit, if this attempt has written something. */
  end: (launchedAt: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** All attempts write to one file. */
export function followCommandLine({
  path,
  log,
  limitEnd,
  onProblem,
}: {
  path: string;
  log: Pick<AgentLog, 'add' | 'addUsage'>;
  limitEnd: (words: string, path: string) => string | null;
  onProblem: (error: unknown) => void;
}): CommandLine {
  const output = watchOutput({ path, onProblem });

  function logCost(name?: string): void {
    const { usd, inputTokens: input, outputTokens } = output.stream().cost;
    const tokens = input + outputTokens === 0 ? null : { input, output: outputTokens };
    const cost = usd === null ? null : { amount: usd, currency: 'USD' };
    if (cost !== null || tokens !== null) log.addUsage({ tokens, cost, context: null }, name);
  }

  return {
    logCost: () => logCost(),
    async end(launchedAt) {
      await output.read();
      logCost('end');
      const { limit, ended } = output.stream();
      const writtenAt = Date.parse(output.lastOutputAt() ?? '');
      if (limit === null || writtenAt < Date.parse(launchedAt) - TOLERANCE_MS) return;
      const text = ended?.reason ?? limit;
      const detail = { turn: 0, text, until: limitEnd(limit, path), unpaid: isUnpaid(limit) };
      log.add({ event: 'agent.limit.reached', name: 'limit', detail });
    },
    stop: output.stop,
  };
}
