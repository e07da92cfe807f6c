// The composition root: builds every part with its collaborators and starts them in order.
import { type Config, type Environment, type EventDraft, formatProblem } from '@svc/core';
import type { DestinationStream } from 'pino';
import { createAccess } from '../access/access.ts';
import type { ReadSocketTable } from '../access/socket-table.ts';
import type { Machine } from '../config/environment.ts';
import { openLiveConfig } from '../config/live.ts';
import { createFileLocks } from '../disk/lock.ts';
import { createHttpServer, type OnAnswer } from '../http/server.ts';
import { createStaticHandler } from '../http/static-handler.ts';
import { createWebhookHandler } from '../http/webhook-handler.ts';
import { appendHelperFact, openEventLog } from '../log/event-log.ts';
import { createJqThreads } from '../log/jq-threads.ts';
import { watchSpool } from '../log/spool.ts';
import { codehostFeed, type Feed, trackerFeed } from '../receive/feed.ts';
import { createReceiver } from '../receive/receiver.ts';
import { readSecrets, type Secrets } from '../receive/secrets.ts';
import { createSignalStore } from '../runs/signal-store.ts';
import { createSummaries } from '../summarize/create-summaries.ts';
import { createModelFigures } from '../summarize/figures.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createRecentTimes } from '../telemetry/recent-times.ts';
import { openBoard } from './board.ts';
import { createCodehostFeed } from './codehost-feed.ts';
import { codehostView } from './codehost-view.ts';
import { createConfigAttention } from './config-attention.ts';
import { loadDashboard } from './dashboard.ts';
import { createEffects } from './effects.ts';
import { createExamination } from './examination.ts';
import { createFeeds } from './feeds.ts';
import { createFigures } from './figures.ts';
import { createHealth } from './health.ts';
import { identifyHost } from './host.ts';
import { createOrchestration } from './orchestration.ts';
import { rebuilt } from './rebuilt.ts';
import { createReports } from './reports.ts';
import { daemonRoutes } from './routes.ts';
import { createRules } from './rules.ts';
import { createSelfCheck } from './self-check.ts';
import { exposeState } from './state-metrics.ts';
import { createTelemetry } from './telemetry.ts';
import { createTrackerPoll } from './tracker-poll.ts';
import { createWorkers } from './workers.ts';

export type DaemonOptions = {
  machine: Machine;
  environment: Environment;
  /** The folder that the daemon was started from: its project is served too. */
  folder: string;
  version: string;
  pid: number;
  /** How this program is started; empty when it cannot be. */
  program: readonly string[];
  /** Where structured logs go. */
  logTo: DestinationStream;
  /** What happened to the data root since it was claimed; null when nothing did. */
  dataRootTrouble: () => string | null;
  now: () => Date;
  /** Who is behind a connection; the kernel's table unless a test has another. */
  socketTable?: ReadSocketTable;
};

export type RunningDaemon = {
  instance: string;
  port: number;
  url: string;
  startedAt: string;
  close: () => Promise<void>;
};

export async function runDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  // What is opened is closed in the reverse order, whichever part fails.
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
  const { machine, environment, version, pid, now } = options;
  const nowMs = (): number => now().getTime();
  const logger = createLogger(options.logTo);
  opened.defer(() => logger.info('daemon stopped'));
  const metrics = createMetrics();
  const live = await openLiveConfig({
    machine,
    environment,
    folder: options.folder,
    onFailure: (error) => logger.error({ err: error }, 'a change of the configuration could not be applied'),
  });
  /** Each is logged when it appears, not again at every change. */
  let logged = new Set<string>();
  const logProblems = (): void => {
    const problems = new Set(live.current().problems.map(formatProblem));
    for (const problem of problems) if (!logged.has(problem)) logger.warn({ problem }, 'configuration');
    logged = problems;
  };
  logProblems();
  const configs = (): Config[] => live.current().configs;
  const machineWide = (): Config => live.current().machineWide;
  let secretsNow = readSecrets(configs(), environment);
  const secrets = (): Secrets => secretsNow;
  const identity = {
    instance: crypto.randomUUID(),
    pid,
    version,
    startedAt: now().toISOString(),
    port: 0,
    url: '',
  };
  const access = await createAccess({ dataDir: machine.dataDir, read: options.socketTable, now: nowMs });
  const health = createHealth({
    identity,
    projects: live.current,
    ruleProblems: () => rules.current().problems,
    secrets,
    dataRootTrouble: options.dataRootTrouble,
    access: access.report,
    metrics,
    now,
  });

  const host = await identifyHost(machine.dataDir);
  const telemetry = createTelemetry({ configs, metrics, logger, now });
  opened.defer(telemetry.stop);
  health.watchTelemetry(telemetry.status);
  const times = { deliveries: createRecentTimes(), commits: createRecentTimes() };
  let durableLines = 0;
  const log = openEventLog({
    eventsFolder: machine.eventsDir,
    databaseFile: machine.databaseFile,
    clock: { now: nowMs },
    host,
    newId: () => crypto.randomUUID(),
    onNotice(notice) {
      logger.warn(notice, 'event log');
      health.noteLog(notice);
    },
    onCommit({ lines, milliseconds }) {
      times.commits.note(milliseconds);
      durableLines += lines;
      metrics.commitSeconds.observe(milliseconds / 1000);
      metrics.lines.inc(lines);
    },
  });
  opened.defer(log.close);
  health.watchLog(log.stats);
  const board = openBoard({ log, machine, now: nowMs, logger });
  opened.defer(board.close);
  const { state } = board;

  const ticketPrefixes = (): string[] =>
    configs().flatMap(({ svc }) => svc.project.ticketPrefix ?? svc.tracker.teamKey ?? []);
  const receiverOf = (feed: Feed) =>
    createReceiver({
      feed,
      secrets: () => secrets()[feed.name],
      log,
      ticketPrefixes,
      now: nowMs,
      onOutcome: (outcome) => health.noteDelivery(feed.name, outcome),
      onAccepted: (milliseconds) => times.deliveries.note(milliseconds),
    });
  const receivers = { codehost: receiverOf(codehostFeed), tracker: receiverOf(trackerFeed) };
  const codehost = await createCodehostFeed({
    configs,
    committedChannel: () => live.current().committedChannel,
    environment,
    dataDir: machine.dataDir,
    secrets: () => secrets().codehost,
    receiver: receivers.codehost,
    log,
    ticketPrefixes,
    logger,
    now: nowMs,
    view: codehostView(state, log.lastSeq, nowMs),
  });
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
    summarizer: () => summaries.current().summarizer,
    logger,
    now,
  });
  const effects = createEffects({
    configs,
    machineWide,
    environment,
    trackerApiUrl: machine.trackerApiUrl,
    runsDir: machine.runsDir,
    locks,
    board,
    signals,
    codehost,
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
    willRevive: orchestration.orchestrator.willRevive,
    logger,
    now,
  });
  const rules = await rebuilt(
    () => [machineWide().svc.rules, machineWide().svc.commands],
    () =>
      createRules({ config: machineWide(), log, eventsDir: machine.eventsDir, metrics, logger, now: nowMs }),
  );
  health.watchState({
    board: board.figures,
    outbox: effects.figures,
    signals: workers.figures,
    runs: () => ({
      agents: orchestration.orchestrator.running(),
      problem: orchestration.orchestrator.problem(),
    }),
    rules: () => rules.current().report(),
  });
  const tracker = await rebuilt(
    () => configs().map(({ svc }) => svc.tracker),
    () => createTrackerPoll({ configs: configs(), apiUrl: machine.trackerApiUrl, log, logger, now: nowMs }),
  );
  const feeds = createFeeds({
    configs,
    committedChannel: () => live.current().committedChannel,
    secrets,
    environment,
    hostId: host.id,
    receivers,
    log,
    codehost,
    tracker,
    logger,
  });
  health.watchFeeds(feeds.report);
  const trackerCalls = () => ({ poll: tracker.current().calls(), move: effects.trackerCalls() });
  exposeState(metrics, {
    board: state.board,
    snapshots: () => board.figures().snapshots,
    outbox: effects.figures,
    tunnels: () => feeds.report().tunnels,
    codehost: codehost.gh.figures,
    trackerCalls,
    version,
    startedAt: identity.startedAt,
  });
  const modelFigures = createModelFigures(metrics.registry);
  const summaries = await rebuilt(
    () => configs().map(({ svc, ai }) => [svc.ai, ai, svc.projectKey, svc.repository, svc.tracker.teamKey]),
    () =>
      createSummaries({
        configs: configs(),
        environment,
        state,
        fetch,
        now: nowMs,
        logger,
        figures: modelFigures,
      }),
  );
  const configAttention = createConfigAttention({
    problems: () => live.current().problems,
    board: state.board,
    append: log.append,
  });
  // What is open already is known when the log has been read.
  const updateAttention = (): void => {
    state.ready
      .then(configAttention.update)
      .catch((error: unknown) => logger.error({ err: error }, 'attention of the configuration'));
  };
  live.onChange(async () => {
    secretsNow = readSecrets(configs(), environment);
    logProblems();
    await rules.reconfigure();
    await tracker.reconfigure();
    await summaries.reconfigure();
    await telemetry.reconfigure();
    feeds.reconfigure();
    updateAttention();
  });
  const onAnswer: OnAnswer = (route, method, status) => metrics.requests.add({ route, method, status });
  const takeDelivery = createWebhookHandler({
    receivers: [receivers.codehost, receivers.tracker],
    logger,
    onAnswer,
  });
  const jq = createJqThreads();
  const showDashboard = createStaticHandler({ files: loadDashboard(logger), onAnswer });
  const server = createHttpServer({
    logger,
    access,
    deliver: takeDelivery,
    show: showDashboard,
    routes: daemonRoutes({
      health: health.report,
      access,
      metrics,
      log,
      jq,
      board,
      feeds,
      codehost,
      effects,
      orchestration,
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
      examine: createExamination({ program: options.program, environment }),
      runsDir: machine.runsDir,
      reports: createReports({ machine, live }),
      figures: createFigures({
        startedAt: identity.startedAt,
        codehost: codehost.gh.figures,
        meter: codehost.meter,
        trackerCalls,
        deliveries: () => times.deliveries.figures(),
        commits: () => times.commits.figures(),
        lines: () => durableLines,
      }),
      life: identity.instance,
      version,
      now,
    }),
    onAnswer,
  });
  // A full disk must not keep the daemon from starting or stopping; health shows that the log is failing.
  const tell = async (draft: EventDraft): Promise<void> => {
    await log
      .append(draft)
      .catch((error: unknown) => logger.error({ err: error }, `${draft.event} is not in the log`));
  };
  const ofDaemon = (event: 'monitor.daemon.started' | 'monitor.daemon.stopped'): EventDraft => {
    return { event, source: 'monitor', via: 'local', scope: {}, detail: { pid, version } };
  };
  log.ready.then(
    () => logger.info({ lastSeq: log.lastSeq() }, 'the index is up to date'),
    (error: unknown) => logger.error({ err: error }, 'the index cannot catch up'),
  );
  // The policies of deploys are in the log before the first delivery can be.
  await live.start(log.append);
  opened.defer(live.stop);
  opened.defer(jq.close);
  identity.port = await server.listen(machine.port);
  identity.url = `http://127.0.0.1:${identity.port}`;
  await tell(ofDaemon('monitor.daemon.started'));
  opened.defer(() => tell(ofDaemon('monitor.daemon.stopped')));
  const spool = watchSpool({
    folder: machine.spoolDir,
    appendOnce: (draft) => appendHelperFact(log, draft),
    onDrained(drained) {
      logger.info(drained, 'spool drained');
      health.noteSpool(drained.rejected.length);
    },
    onFailure: (error) => logger.error({ err: error }, 'the spool cannot be read'),
  });
  opened.defer(spool.close);
  const started = (part: { start: () => void; stop: () => Promise<void> | void }): void => {
    part.start();
    opened.defer(part.stop);
  };
  effects.start();
  started(workers);
  started(orchestration.orchestrator);
  started(rules);
  opened.defer(server.close);
  // A provider that is being asked would hold up whoever waits for its answer.
  started(summaries);
  telemetry.start();
  started(tracker);
  // What has arrived through the tunnels is handed over before anything else closes.
  started(feeds);
  updateAttention();
  logger.info({ ...identity, dataDir: machine.dataDir }, 'daemon started');
  return identity;
}
