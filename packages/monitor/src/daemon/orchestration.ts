// The orchestrator with its collaborators: the projects as they are configured, and the agents' processes.
import { hostname } from 'node:os';
import { type Config, type Environment, feedSecretVariables, formatProblem, withoutSecrets } from '@svc/core';
import type { Logger } from 'pino';
import type { Machine } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { FileLocks } from '../disk/lock.ts';
import { Failure } from '../errors.ts';
import type { EventLog } from '../log/event-log.ts';
import { createOrchestrator, type Orchestrator } from '../orchestrate/runs/orchestrator.ts';
import type { AskDependencies } from '../orchestrate/runs/plan-by-dependencies.ts';
import { createRunProjects, type RunProjects } from '../orchestrate/runs/run-project.ts';
import type { ServedFolders } from '../orchestrate/runs/served-project.ts';
import { createStartAgent } from '../orchestrate/runs/start-agent.ts';
import { processStartsOf } from '../runs/process-start.ts';
import type { SignalStore } from '../runs/signal-store.ts';
import type { StateFollower } from '../state/state-follower.ts';
import { askDependencies } from '../tracker/ask-dependencies.ts';
import { createTrackerClient } from '../tracker/client.ts';
import { loadProjects } from './projects.ts';

export type Orchestration = {
  orchestrator: Orchestrator;
  projects: RunProjects;
  served: ServedFolders;
  dependenciesOf: AskDependencies;
};

export function createOrchestration(options: {
  machine: Machine;
  configs: readonly Config[];
  environment: Environment;
  /** The one that the daemon was started from. */
  folder: string;
  locks: FileLocks;
  signals: SignalStore;
  state: StateFollower;
  log: EventLog;
  logger: Logger;
  now: () => Date;
}): Orchestration {
  const { machine, environment, locks, signals, state, log, logger, now } = options;
  const { home, dataDir, locksDir, runsDir } = machine;
  const processStarts = processStartsOf(process.platform);
  // What is started for one project sees the webhook secrets of none.
  const forPrograms = withoutSecrets(environment, options.configs.flatMap(feedSecretVariables));
  const projects = createRunProjects({
    async loadConfig(folder) {
      const { config, problems } = await loadConfig(machine, environment, folder);
      if (config !== undefined) return config;
      throw new Failure('config-invalid', problems.map(formatProblem).join('\n'), 'See: svc config validate');
    },
    home,
    dataDir,
    locksDir,
    runsDir,
    locks,
    environment: forPrograms,
    signals,
    append: log.appendOnce,
    now,
  });
  const startAgent = createStartAgent({
    runsDir,
    signals,
    environment: forPrograms,
    hostname: hostname(),
    processStarts,
    now,
  });
  const orchestrator = createOrchestrator({
    runsDir,
    state,
    append: log.append,
    projects,
    signals,
    startAgent,
    processStarts,
    logger,
    now,
    patience: machine.patience,
  });
  return {
    orchestrator,
    projects,
    // One that a person has registered since the start is served too, without a restart.
    served: async () => (await loadProjects(machine, environment, options.folder)).folders,
    async dependenciesOf(folder, tickets) {
      const { apiToken: token } = (await projects.of(folder)).config.svc.tracker;
      if (token === undefined)
        throw new Failure(
          'not-configured',
          'There is no API token for the issue tracker, so that nobody can tell what blocks a ticket.',
          'Store one: svc config set svc.tracker.apiToken - < token.txt, then: svc-monitor.sh restart',
        );
      const clock = { now: () => now().getTime() };
      return askDependencies(
        createTrackerClient({ token, apiUrl: machine.trackerApiUrl, fetch, clock }),
        tickets,
      );
    },
  };
}
