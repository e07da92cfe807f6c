// The orchestrator with its collaborators: the configured projects, and the agents' processes.
import { hostname } from 'node:os';
import { namesIn, realpath } from '@svc/lib/paths';
import { system } from '@svc/lib/system';
import type { Logger } from 'pino';
import { feedSecretVariables, withoutSecrets } from '../features/agents/agent-environment.ts';
import { policyAnswer } from '../features/agents/choice.ts';
import { type Agents, createAgents } from '../features/agents/io/agents.ts';
import { rootFrom } from '../features/archive/io/archive-index.ts';
import type { Gh } from '../features/codehost/gh.ts';
import type { Config } from '../features/config.ts';
import { loadConfig } from '../features/configure.ts';
import { ticketKey } from '../features/findings/io/queue.ts';
import { createRunEndFindings } from '../features/findings/io/run-end.ts';
import { createTicketWatch, type TicketWatch } from '../features/reactions/io/watch-tickets.ts';
import { type AskServices, createAskServices } from '../features/runs/io/ask-services.ts';
import type { AskDependencies } from '../features/runs/io/begin-run.ts';
import { createOrchestrator, type Orchestrator } from '../features/runs/io/orchestrator.ts';
import type { AskModel } from '../features/runs/io/run-ends.ts';
import { createRunProjects, type RunProjects, type ServedFolders } from '../features/runs/io/run-project.ts';
import { createStartAgent } from '../features/runs/io/start-agent.ts';
import { createStartFromTracker, type StartFromTracker } from '../features/runs/io/start-from-tracker.ts';
import { timingsOf } from '../features/runs/io/timings.ts';
import type { Summarizer } from '../features/summaries/io/create-summaries.ts';
import { createStartTask, type StartTask } from '../features/tasks/io/start-task.ts';
import { localTickets } from '../features/tasks/local-tickets.ts';
import { askDependencies } from '../features/tracker/io/ask-dependencies.ts';
import { requireTracker } from '../features/tracker/io/open-tracker.ts';
import { createTicketReader, type TicketReader, trackerTickets } from '../features/tracker/io/read-ticket.ts';
import type { Tracker } from '../features/tracker/io/tracker.ts';
import { ticketPrefixOf } from '../features/tracker/tracker-of.ts';
import type { SignalStore } from '../features/workers/io/signal-store.ts';
import { boardOf } from '../kernel/board/state-access.ts';
import type { StateFollower } from '../kernel/board/state-follower.ts';
import { locationVariables, type Machine } from '../kernel/config/environment.ts';
import type { LiveConfig } from '../kernel/config/live.ts';
import { formatProblem } from '../kernel/config/problems.ts';
import type { ServedProject } from '../kernel/config/projects.ts';
import type { Environment } from '../kernel/config/resolved-value.ts';
import type { FileLocks } from '../kernel/disk/lock.ts';
import { Failure } from '../kernel/failure.ts';
import type { EventDraft } from '../kernel/log/event-line.ts';
import type { EventLog } from '../kernel/log/event-log.ts';

export type Orchestration = {
  orchestrator: Orchestrator;
  agents: Agents;
  projects: RunProjects;
  served: ServedFolders;
  tickets: TicketReader;
  ticketWatch: TicketWatch;
  startRun: StartFromTracker;
  startTask: StartTask;
  askServices: AskServices;
  /** The prefixes of the tickets of all served projects. */
  prefixes: () => readonly (string | undefined)[];
  /** The folder of the only served project whose tickets have this one's prefix. */
  folderOf: (ticket: string) => string | undefined;
  dependenciesOf: AskDependencies;
};

export function createOrchestration(options: {
  machine: Machine;
  live: Pick<LiveConfig, 'current' | 'refresh'>;
  environment: Environment;
  locks: FileLocks;
  signals: SignalStore;
  state: StateFollower;
  log: EventLog;
  instanceId: string;
  /** Resolves when the board has the current content of the worker's signal file. */
  syncSignal: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  summarizer: () => Summarizer;
  logger: Logger;
  gh: Gh;
  now: () => Date;
}): Orchestration {
  const { machine, live, environment, locks, signals, state, log, logger, now } = options;
  const { home, dataDir, locksDir, runsDir } = machine;
  const processStarts = system.processStarts;
  // A program that is started for a project gets no webhook secrets, not even that project's.
  const forPrograms = (): Environment =>
    withoutSecrets(environment, live.current().configs.flatMap(feedSecretVariables));
  const locations = locationVariables(machine);
  // A finding stays filed even if this could not be logged.
  const report = async (draft: EventDraft): Promise<void> => {
    await log.appendOnce(draft).catch((error: unknown) => {
      logger.error({ err: error }, `${draft.event} could not be logged`);
    });
  };
  const askModel: AskModel = async (orchId, signal) => {
    const written = await options.summarizer().summarize({ orchId, template: 'run-summary' }, signal);
    if (written === 'ai-off') return null;
    return { text: written.summary, by: `${written.provider} (${written.model})` };
  };
  const openFor = (config: Config): Tracker =>
    requireTracker(
      { config },
      {
        apiUrl: machine.trackerApiUrl,
        fetch,
        clock: { now: () => now().getTime() },
        gh: () => options.gh,
      },
    );
  const tickets = createTicketReader([localTickets(() => boardOf(state)), trackerTickets(openFor)]);
  const projects = createRunProjects({
    async loadConfig(folder) {
      const served = await projectIn(folder, live.current().projects);
      const loaded = served ?? (await loadConfig(machine, environment, folder));
      const errors = loaded.problems.filter(({ severity }) => severity === 'error').map(formatProblem);
      // Only defaults are known: no agent is started on a guess.
      const isKnown = loaded.values.some(({ source }) => source.kind === 'last-good');
      if (loaded.applied.others === 'unknown' && !isKnown)
        throw new Failure(
          'config-invalid',
          errors.join('\n'),
          'Fix the file, then check it: svc config validate',
        );
      return { config: loaded.usable, problems: errors };
    },
    home,
    dataDir,
    locksDir,
    runsDir,
    locks,
    environment: forPrograms,
    locations,
    answerMs: timingsOf(machine).agentAnswerSec * 1_000,
    signals,
    findingsOf: (config) =>
      createRunEndFindings({
        config,
        locks,
        trackerApiUrl: machine.trackerApiUrl,
        environment,
        source: 'orchestrator',
        report,
        now: () => now().getTime(),
      }),
    // A run that is no longer on the board may still have its folder, its archive or both.
    usedNames: async (config) =>
      (await Promise.all([runsDir, rootFrom(config.archive.root, home)].map(namesIn))).flat(),
    tickets,
    append: log.appendOnce,
    now,
  });
  const startAgent = createStartAgent({
    runsDir,
    signals,
    environment: forPrograms,
    locations,
    hostname: hostname(),
    processStarts,
    syncSignal: options.syncSignal,
    append: log.appendOnce,
    now,
  });
  const agents = createAgents({
    runsDir,
    instanceId: options.instanceId,
    state,
    append: log.appendOnce,
    syncSignal: options.syncSignal,
    async policyAnswer({ orchestrator }, request) {
      const plan = state.board().runs.get(orchestrator)?.plan;
      if (!plan) return null;
      return policyAnswer((await projects.of(plan.project)).config.svc.orchestration.permissions, request);
    },
    async budgetsOf(orchestrator) {
      const project = state.board().runs.get(orchestrator)?.plan?.project;
      if (project === undefined) return null;
      return { project, budgets: (await projects.of(project)).config.svc.orchestration.budget };
    },
    async idleMinutesOf(orchestrator) {
      const project = state.board().runs.get(orchestrator)?.plan?.project;
      if (project === undefined) return null;
      return (await projects.of(project)).config.svc.orchestration.idleAgentMinutes;
    },
    processStarts,
    wake: () => void orchestrator.checkNow(),
    journalBytes: timingsOf(machine).journalBytes,
    logger,
    now,
  });
  const orchestrator = createOrchestrator({
    runsDir,
    state,
    append: log.append,
    projects,
    signals,
    startAgent,
    agents,
    processStarts,
    askModel,
    logger,
    now,
    timings: timingsOf(machine),
  });
  // A project that was registered a moment ago is served from now on, with its deploy policy and its feeds.
  const served = async () => {
    await live.refresh();
    return live.current().folders;
  };
  const starting = {
    board: () => boardOf(state),
    reached: state.reached,
    append: log.appendOnce,
    projects,
    served,
    orchestrator,
    now,
  };
  return {
    orchestrator,
    agents,
    projects,
    served,
    tickets,
    ticketWatch: createTicketWatch({
      state,
      projects,
      append: log.appendOnce,
      clock: { now: () => now().getTime() },
      logger,
    }),
    startRun: createStartFromTracker(starting),
    startTask: createStartTask({ ...starting, filingOf: (config) => openFor(config).filing, ticketKey }),
    askServices: createAskServices({
      projects,
      open: openFor,
      gh: options.gh,
    }),
    prefixes: () => live.current().projects.map(({ usable }) => ticketPrefixOf(usable)),
    folderOf(ticket) {
      const prefix = ticket.slice(0, Math.max(0, ticket.lastIndexOf('-'))).toUpperCase();
      const owners = live
        .current()
        .projects.filter(({ usable }) => ticketPrefixOf(usable)?.toUpperCase() === prefix);
      return owners.length === 1 ? owners[0]?.folder : undefined;
    },
    async dependenciesOf(folder, asked) {
      const { config } = await projects.of(folder);
      return askDependencies(openFor(config), asked);
    },
  };
}

/** By its real path, whichever path was registered. */
async function projectIn(
  folder: string,
  projects: readonly ServedProject[],
): Promise<ServedProject | undefined> {
  for (const project of projects) {
    // A folder that is gone does not match.
    const real = await realpath(project.folder).catch(() => undefined);
    if (project.folder === folder || real === folder) return project;
  }
  return undefined;
}
