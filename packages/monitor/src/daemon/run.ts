// The composition root: builds every part with its collaborators, and starts them in order.

import type { RunCommand } from '@svc/lib/process';
import { rebuilt } from '@svc/lib/rebuilt';
import { system } from '@svc/lib/system';
import type { DestinationStream } from 'pino';
import { createCodehostFeed } from '../features/codehost/io/codehost-feed.ts';
import { codehostFeed } from '../features/codehost/webhook-feed.ts';
import { createConfigAttention } from '../features/configuration/io/report.ts';
import { codehostView } from '../features/deploy/codehost-view.ts';
import { readPolicyFirst } from '../features/deploy/read-policy-first.ts';
import { roundsOf } from '../features/deploy/reconcile.ts';
import { createSelfCheck } from '../features/doctor/io/self-check.ts';
import { appendHelperFact } from '../features/events/io/append-helper-fact.ts';
import type { Feed } from '../features/feeds/io/feed.ts';
import { createFeeds } from '../features/feeds/io/feeds.ts';
import { createReceiver } from '../features/feeds/io/receiver.ts';
import { createWebhookHandler } from '../features/feeds/io/webhook-handler.ts';
import { createTelemetry } from '../features/otel/io/backends.ts';
import { openFeatures } from '../features/parts.ts';
import { createRules } from '../features/rules/io/rules-service.ts';
import { createHookSessions } from '../features/sessions/io/sessions.ts';
import { createSummaries } from '../features/summaries/io/create-summaries.ts';
import { createModelFigures } from '../features/summaries/io/limiter.ts';
import { createTeam, type HeartbeatOption } from '../features/team/io/team.ts';
import { createLookup } from '../features/tickets/subject.ts';
import { topics } from '../features/topics.ts';
import { ticketsNotOver } from '../features/tracker/dependencies.ts';
import { hookEventsFor } from '../features/tracker/hook-events.ts';
import { createTrackerPoll } from '../features/tracker/io/tracker-poll.ts';
import { issueFact } from '../features/tracker/map-issues.ts';
import { providerOf, ticketPrefixOf, trackedRepos } from '../features/tracker/tracker-of.ts';
import { trackerFeed } from '../features/tracker/webhook-feed.ts';
import { createSignalStore } from '../features/workers/io/signal-store.ts';
import { createAccess } from '../kernel/access/access.ts';
import type { ReadSocketTable } from '../kernel/access/socket-table.ts';
import { boardOf } from '../kernel/board/state-access.ts';
import type { Machine } from '../kernel/config/environment.ts';
import type { Environment } from '../kernel/config/resolved-value.ts';
import { recordFormat } from '../kernel/disk/data-format.ts';
import { watchFiles } from '../kernel/disk/disk-space.ts';
import { createFileLocks } from '../kernel/disk/lock.ts';
import { createHttpServer, type OnAnswer } from '../kernel/http/server.ts';
import { createStaticHandler, loadDashboard } from '../kernel/http/static-handler.ts';
import type { DaemonIdentity } from '../kernel/instance/daemon-identity.ts';
import { openEventLog } from '../kernel/log/event-log.ts';
import { createJqThreads } from '../kernel/log/jq-threads.ts';
import { identifyHost } from '../kernel/log/log-entry.ts';
import { watchSpool } from '../kernel/log/spool.ts';
import { createLogger } from '../kernel/telemetry/logger.ts';
import { createMetrics } from '../kernel/telemetry/metrics.ts';
import { openBoard } from './board.ts';
import { createCounters, createFigures, exposeMetrics } from './counters.ts';
import { createEffects } from './effects.ts';
import { createHealth } from './health.ts';
import { createOrchestration } from './orchestration.ts';
import { daemonRoutes, type RunDoctor } from './routes.ts';
import { openSettings } from './settings.ts';
import { createWorkers } from './workers.ts';

/** `heartbeatMs`: how often machines of the team are heard; shorter in tests. */
export type DaemonOptions = HeartbeatOption & {
  machine: Machine;
  environment: Environment;
  /** The folder that the daemon was started from: its project is served too. */
  folder: string;
  version: string;
  pid: number;
  /** Absent where the daemon was not started from the command line. */
  runDoctor?: RunDoctor | undefined;
  /** Where structured logs go. */
  logTo: DestinationStream;
  /** What happened to the data root since it was claimed; null if nothing did. */
  dataRootTrouble: () => string | null;
  now: () => Date;
  /** Only shows the board of the team (svc team serve). */
  readOnly?: boolean | undefined;
  /** Finds the user of a connection; the kernel's table unless a test replaces it. */
  socketTable?: ReadSocketTable;
  /** How the code host's program is run; tests replace it. */
  run?: RunCommand;
};

export type RunningDaemon = Pick<DaemonIdentity, 'instance' | 'port' | 'url' | 'startedAt'> & {
  close: () => Promise<void>;
};

export async function runDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  // Parts are closed in the reverse order of opening, whichever part fails.
  const opened = new AsyncDisposableStack();
  try {
    return { ...(await openDaemon(options, opened)), close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function openDaemon(
  options: DaemonOptions,
  opened: AsyncDisposableStack,
): Promise<Omit<RunningDaemon, 'close'>> {
  const { machine, environment, version, pid, readOnly = false, now, heartbeatMs } = options;
  const nowMs = (): number => now().getTime();
  const logger = createLogger(options.logTo);
  opened.defer(() => logger.info('daemon stopped'));
  const identity = {
    instance: crypto.randomUUID(),
    pid,
    version,
    startedAt: now().toISOString(),
    port: 0,
    url: '',
  };

  // Before anything reads or writes it.
  await recordFormat(machine.dataDir, version);

  // The configuration.
  const settings = await openSettings({ machine, environment, folder: options.folder, logger });
  const { live, configs, machineWide, secrets, committedChannel, shareTitles } = settings;
  const ticketPrefixes = (): string[] => configs().flatMap((config) => ticketPrefixOf(config) ?? []);

  // The log, and the board that is folded from it.
  const { dataDir } = machine;
  const access = await createAccess({ dataDir, read: options.socketTable, readOnly, now: nowMs });
  const metrics = createMetrics();
  const counters = createCounters({ metrics, now });
  const onNotice: typeof counters.noteLog = (notice) => {
    logger.warn(notice, 'event log');
    counters.noteLog(notice);
  };
  const host = await identifyHost(machine.dataDir, (path) => onNotice({ kind: 'host-id-set-aside', path }));
  const telemetry = createTelemetry({ configs, metrics, logger, now });
  opened.defer(telemetry.stop);
  const log = openEventLog({
    eventsFolder: machine.eventsDir,
    databaseFile: machine.databaseFile,
    clock: { now: nowMs },
    host,
    newId: () => crypto.randomUUID(),
    onNotice,
    onCommit: counters.noteCommit,
  });
  opened.defer(log.close);
  const board = openBoard({ log, machine, now: nowMs, logger });
  opened.defer(board.close);
  const { state } = board;

  // Input: deliveries, hooks, polling.
  const input = readPolicyFirst(log, live);
  const receiverOf = (feed: Feed) =>
    createReceiver({
      feed,
      secrets: () => secrets()[feed.name],
      log: input,
      ticketPrefixes,
      ticketFact: (type, payload) => issueFact(type, payload, trackedRepos(configs())),
      now: nowMs,
      onOutcome: (outcome) => counters.noteDelivery(feed.name, outcome),
      onAccepted: counters.noteAccepted,
    });
  const receivers = { codehost: receiverOf(codehostFeed), tracker: receiverOf(trackerFeed) };
  const watched = codehostView(state, log.lastSeq, nowMs, createLookup);
  const codehost = await createCodehostFeed({
    configs,
    committedChannel,
    environment,
    dataDir: machine.dataDir,
    secrets: () => secrets().codehost,
    receiver: receivers.codehost,
    log: input,
    ticketPrefixes,
    logger,
    now: nowMs,
    caughtUp: watched.caughtUp,
    createRounds: roundsOf(watched),
    hookEvents: hookEventsFor,
    ...(options.run && { run: options.run }),
  });
  // Its timers run from now on; the feeds stop it too, before anything else closes.
  opened.defer(codehost.stop);
  const tracker = await rebuilt(
    () => configs().map(({ svc }) => [svc.tracker, svc.repository, svc.project.ticketPrefix]),
    () =>
      createTrackerPoll({
        configs: configs(),
        apiUrl: machine.trackerApiUrl,
        gh: codehost.gh,
        openTickets: () => ticketsNotOver(state.board().tickets.values()).map(({ ticket }) => ticket),
        onChanged: (issue) => ticketWatch.noteChanged(issue),
        log,
        logger,
        now: nowMs,
      }),
  );
  const feeds = createFeeds({
    configs,
    committedChannel,
    secrets,
    environment,
    hostId: host.id,
    receivers,
    log,
    codehost,
    tracker: tracker.current,
    providerOf,
    logger,
  });

  // Parts that act on lines: runs, effects, workers, rules, summaries.
  const modelFigures = createModelFigures(metrics.registry);
  const summaries = await rebuilt(
    () => configs().map(({ svc, ai }) => [svc.ai, ai, svc.projectKey, svc.repository, svc.tracker.teamKey]),
    () =>
      createSummaries({
        configs: configs(),
        environment,
        board: () => boardOf(state),
        fetch,
        now: nowMs,
        logger,
        figures: modelFigures,
      }),
  );
  const locks = createFileLocks({ folder: machine.locksDir });
  const signals = createSignalStore({ runsDir: machine.runsDir, locks, now });
  const orchestration = createOrchestration({
    machine,
    live,
    environment,
    locks,
    signals,
    state,
    log,
    instanceId: identity.instance,
    syncSignal: (worker) => workers.sync(worker),
    summarizer: () => summaries.current().summarizer,
    gh: codehost.gh,
    logger,
    now,
  });
  const { orchestrator, ticketWatch } = orchestration;
  const effects = createEffects({
    ...settings,
    environment,
    trackerApiUrl: machine.trackerApiUrl,
    runsDir: machine.runsDir,
    locks,
    board,
    signals,
    codehost,
    orchestration,
    sessions: () => sessions,
    log,
    logger,
    now: nowMs,
    onSettled: telemetry.noteEffect,
  });
  opened.defer(effects.stop);
  opened.defer(board.stop);
  const workers = createWorkers({
    runsDir: machine.runsDir,
    state,
    log,
    codehost,
    willRevive: orchestrator.willRevive,
    logger,
    now,
  });
  const processStarts = system.processStarts;
  const shared = { machine, live, machineWide, state, log, locks, logger, now };
  const parts = { ...orchestration, ...shared, outbox: effects, cleanUp: orchestrator.cleanUp };
  const features = openFeatures.map((open) => open(parts));
  const sessions = createHookSessions({ state, append: log.append, processStarts, logger });
  const team = createTeam({ ...machine, state, log, shareTitles, version, logger, now: nowMs, heartbeatMs });
  const rules = await rebuilt(
    () => [machineWide().svc.rules, machineWide().svc.commands],
    () =>
      createRules({ config: machineWide(), log, eventsDir: machine.eventsDir, metrics, logger, now: nowMs }),
  );
  const configAttention = createConfigAttention({
    problems: () => settings.report(state.board()).problems,
    board: state.board,
    append: log.append,
  });
  // Which items are already open is known only after the log has been read.
  const updateAttention = (): void =>
    void state.ready
      .then(configAttention.update)
      .catch((error: unknown) => logger.error({ err: error }, 'the configuration’s state was not logged'));
  live.onChange(async () => {
    settings.applyChange();
    for (const part of [rules, tracker, summaries, telemetry]) await part.reconfigure();
    feeds.reconfigure();
    team.reconfigure();
    updateAttention();
  });

  // The API, from finished parts.
  const trackerCalls = () => ({ poll: tracker.current().calls(), move: effects.trackerCalls() });
  exposeMetrics(metrics, {
    counters,
    log: log.stats,
    state: board,
    outbox: effects.figures,
    tunnels: () => feeds.report().tunnels,
    codehost: codehost.gh.figures,
    trackerCalls,
    version,
    startedAt: identity.startedAt,
  });
  const health = createHealth({
    identity,
    filesChecked: live.isChecked,
    projects: () => settings.report(state.board()),
    secrets,
    dataRootTrouble: options.dataRootTrouble,
    files: watchFiles(machine.dataDir, logger, opened).problem,
    access: access.report,
    counters,
    log: log.stats,
    board: board.figures,
    outbox: effects.figures,
    signals: workers.figures,
    runs: orchestrator,
    rules: rules.current,
    sessions,
    team: team.health,
    feeds: feeds.report,
    telemetry: telemetry.status,
    now,
  });
  const jq = createJqThreads({ topics });
  const onAnswer: OnAnswer = (route, method, status) => metrics.requests.add({ route, method, status });
  const server = createHttpServer({
    logger,
    access,
    deliver: readOnly
      ? undefined
      : createWebhookHandler({ receivers: [receivers.codehost, receivers.tracker], logger, onAnswer }),
    show: createStaticHandler({ files: loadDashboard(logger), onAnswer }),
    routes: daemonRoutes({
      health,
      access,
      metrics,
      log,
      jq,
      board,
      feeds,
      codehost,
      effects,
      orchestration,
      sessions,
      opened: features,
      team,
      rules: rules.current,
      signals,
      workers,
      summaries: summaries.current,
      telemetry,
      selfCheck: createSelfCheck({
        configs,
        environment,
        eventsDir: machine.eventsDir,
        log,
        secrets,
        url: () => identity.url,
        fetch,
      }),
      runDoctor: options.runDoctor,
      machine,
      live,
      onPolicyChange: updateAttention,
      figures: createFigures({
        startedAt: identity.startedAt,
        codehost: codehost.gh.figures,
        meter: codehost.meter,
        trackerCalls,
        counters,
      }),
      instanceId: identity.instance,
      version,
      now,
    }),
    onAnswer,
  });

  // Start everything. The last part to start is the first to stop.
  log.ready.then(
    () => logger.info({ lastSeq: log.lastSeq() }, 'the index is up to date'),
    (error: unknown) => logger.error({ err: error }, 'the index failed to catch up'),
  );
  // The deploy policies must be in the log before the first delivery.
  await settings.start(log.append, state);
  for (const stop of [live.stop, jq.close]) opened.defer(stop);
  identity.port = await server.listen(machine.port);
  identity.url = `http://127.0.0.1:${identity.port}`;
  // A full disk must not prevent the daemon from starting or stopping; health shows that the log is failing.
  const logEvent = async (event: 'monitor.daemon.started' | 'monitor.daemon.stopped'): Promise<void> => {
    await log
      .append({ event, source: 'monitor', via: 'local', scope: {}, detail: { pid, version } })
      .catch((error: unknown) => logger.error({ err: error }, `${event} could not be logged`));
  };
  await logEvent('monitor.daemon.started');
  opened.defer(() => logEvent('monitor.daemon.stopped'));
  const spool = watchSpool({
    topics,
    folder: machine.spoolDir,
    appendOnce: (draft) => appendHelperFact(log, draft),
    onDrained(drained) {
      logger.info(drained, 'spool drained');
      counters.noteSpool(drained.rejected.length);
    },
    onFailure: (error) => logger.error({ err: error }, 'the spool cannot be read'),
  });
  opened.defer(spool.close);
  const start = (part: { start: () => void; stop: () => Promise<void> | void }): void => {
    part.start();
    opened.defer(part.stop);
  };
  // A daemon that only shows the board of the team does nothing else.
  if (!readOnly) effects.start();
  for (const part of [...(readOnly ? [] : [workers, orchestrator, rules]), team]) start(part);
  for (const { start: begin, stop = () => undefined } of features) if (begin) start({ start: begin, stop });
  opened.defer(server.close);
  telemetry.start();
  // They stop before the server, which would wait for them; the feeds first, so what has arrived is processed.
  for (const part of readOnly ? [] : [summaries, sessions, tracker, feeds, ticketWatch]) start(part);
  updateAttention();
  logger.info({ ...identity, dataDir: machine.dataDir }, 'daemon started');
  return identity;
}
