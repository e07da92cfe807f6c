// The configuration that the daemon uses: kept up to date, with its problems logged and the webhook secrets resolved.
import { type CommandAllowances, type Config, type Environment, formatProblem } from '@svc/core';
import type { Logger } from 'pino';
import type { Machine } from '../config/environment.ts';
import { type LiveConfig, openLiveConfig } from '../config/live.ts';
import { readSecrets, type Secrets } from '../receive/feed.ts';

export type Settings = {
  live: LiveConfig;
  /** One for each served project. */
  configs: () => Config[];
  /** The values of the global file. */
  machineWide: () => Config;
  /** What members of the team may do here: nothing while it cannot be read, whatever was allowed before. */
  teamAllow: () => CommandAllowances;
  secrets: () => Secrets;
  /** Call it after each change, before any part is reconfigured. */
  applyChange: () => void;
};

export async function openSettings(options: {
  machine: Machine;
  environment: Environment;
  folder: string;
  logger: Logger;
}): Promise<Settings> {
  const { machine, environment, folder, logger } = options;
  const live = await openLiveConfig({
    machine,
    environment,
    folder,
    onFailure: (error) => logger.error({ err: error }, 'a change of the configuration could not be applied'),
  });
  const configs = (): Config[] => live.current().configs;
  let secrets = readSecrets(configs(), environment);
  /** Each problem is logged when it appears, not again at every change. */
  let logged = new Set<string>();
  function logProblems(): void {
    const problems = new Set(live.current().problems.map(formatProblem));
    for (const problem of problems) if (!logged.has(problem)) logger.warn({ problem }, 'configuration');
    logged = problems;
  }
  logProblems();
  return {
    live,
    configs,
    machineWide: () => live.current().machineWide,
    teamAllow() {
      const { started } = live.current();
      const { source, uncertain = false } = started.values.find(({ key }) => key === 'svc.team.allow') ?? {};
      const isKnown = !uncertain && (source?.kind === 'file' || source?.kind === 'default');
      return isKnown ? started.usable.svc.team.allow : {};
    },
    secrets: () => secrets,
    applyChange() {
      secrets = readSecrets(configs(), environment);
      logProblems();
    },
  };
}
