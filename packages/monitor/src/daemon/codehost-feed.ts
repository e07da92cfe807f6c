// The code host's part of the feeds: hooks where they can be had, replay of what was missed, and polling of
// what has no hook.

import { join } from 'node:path';
import type { CodehostProblem, Config, Environment } from '@svc/core';
import type { Logger } from 'pino';
import { createGh } from '../codehost/gh.ts';
import { openHookMemory } from '../codehost/hook-memory.ts';
import { createHookApi } from '../codehost/hooks.ts';
import { pollingReport } from '../codehost/polling-report.ts';
import { createReconciler, RECONCILE_EVERY_MS } from '../codehost/reconcile.ts';
import { createReplay, type DeliveryReport } from '../codehost/replay.ts';
import { runCommand } from '../codehost/run-command.ts';
import { type Coverage, createSubscriptions } from '../codehost/subscribe.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Receiver } from '../receive/receiver.ts';
import type { FeedSecrets } from '../receive/secrets.ts';
import { followPullRequests } from '../state/pull-requests.ts';
import { every } from './every.ts';

/** Besides every start and reconnect. */
const REPLAY_EVERY_MS = 6 * 3_600_000;

export type CodehostFeed = {
  /** Subscribes what is watched, then replays the last hour, then polls. */
  begin: () => Promise<void>;
  /** Deliveries may have been missed. */
  replaySoon: () => Promise<void>;
  compare: (wish: { withinMs: number; repair: boolean }) => Promise<DeliveryReport[]>;
  coverage: () => Coverage[];
  figures: () => object;
  stop: () => Promise<void>;
};

export async function createCodehostFeed(options: {
  configs: readonly Config[];
  environment: Environment;
  dataDir: string;
  secrets: FeedSecrets;
  receiver: Receiver;
  log: EventLog;
  ticketPrefixes: readonly string[];
  logger: Logger;
  now: () => number;
}): Promise<CodehostFeed> {
  const { configs, log, logger, now, secrets } = options;
  const stopping = new AbortController();
  const repos = [...new Set(configs.flatMap(({ svc }) => svc.monitor.github.watchRepos))];
  const channelUrl = configs
    .map(({ svc }) => svc.monitor.github.smeeChannel)
    .find((url) => url !== undefined);
  const gh = createGh({ environment: options.environment, run: runCommand, now, signal: stopping.signal });
  const hooks = createHookApi(gh);
  /** The secret of the project that watches the repository; one found elsewhere is signed with the first. */
  const secretFor = (repo: string): string | undefined => {
    const owner = configs.find(({ svc }) => svc.monitor.github.watchRepos.includes(repo));
    const named = owner && options.environment[owner.svc.monitor.github.webhookSecretEnv];
    return named === undefined || named === '' ? secrets.values[0] : named;
  };
  const subscriptions = createSubscriptions({
    hooks,
    channelUrl,
    secretFor,
    memory: await openHookMemory(join(options.dataDir, 'hook-secrets.json')),
    now,
    warn: (warning) => logger.warn(warning, warning.message),
  });
  const replay = createReplay({
    hooks,
    subscriptions,
    receiver: options.receiver,
    hasDelivery: log.hasDelivery,
    secretFor,
    now,
  });
  // Nothing is reconciled where nothing is watched.
  const pullRequests =
    repos.length === 0
      ? undefined
      : followPullRequests({
          log,
          now,
          onFailure: (error) => logger.error({ err: error }, 'pull requests cannot be followed'),
        });
  const reconciler = createReconciler({
    gh,
    append: log.appendOnce,
    knownOf: (repo, number) => pullRequests?.knownOf(repo, number),
    isCovered: subscriptions.isCovered,
    ticketPrefixes: options.ticketPrefixes,
    now,
    watched: () => ({ repos, pullRequests: pullRequests?.open() ?? [], deploys: [] }),
  });
  /** Of the last replay and of the last round; null when it went well. */
  const problems: Record<'replay' | 'round', CodehostProblem | null> = { replay: null, round: null };
  let lastRoundAt: number | null = null;
  const failed = (error: unknown): void => logger.error({ err: error }, 'the code host could not be asked');
  const replays = every(
    REPLAY_EVERY_MS,
    async () => {
      problems.replay = await note(replay.replay());
      // A hook that turned out to be gone was forgotten: it is made again.
      await subscriptions.ensureAll(repos);
    },
    failed,
  );
  const rounds = every(
    RECONCILE_EVERY_MS,
    async () => {
      await subscriptions.retryDue();
      const { problems: found, ...done } = await reconciler.run();
      problems.round = found[0]?.problem ?? null;
      if (problems.round === null) lastRoundAt = now();
      logger.info({ ...done, problems: found.length }, 'reconciled with the code host');
    },
    failed,
  );

  async function note(replayed: Promise<DeliveryReport[]>): Promise<CodehostProblem | null> {
    const reports = await replayed;
    for (const report of reports) {
      if (report.missing > 0 || report.problem !== null) logger.info(report, 'replay');
    }
    return reports.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  return {
    async begin() {
      if (repos.length === 0) return;
      await subscriptions.ensureAll(repos);
      await replays.runNow();
      await rounds.runNow();
    },
    replaySoon: () => (subscriptions.coverage().length === 0 ? Promise.resolve() : replays.runAfresh()),
    compare: replay.compareDeliveries,
    coverage: subscriptions.coverage,
    figures() {
      const budget = gh.figures();
      const report = pollingReport({
        watches: repos.length > 0,
        lastAt: lastRoundAt,
        problem: problems.round ?? problems.replay,
        clockAheadMs: budget.clockAheadMs,
      });
      return { ...report, calls: reconciler.meter(), budget };
    },
    async stop() {
      stopping.abort();
      await Promise.all([replays.stop(), rounds.stop(), pullRequests?.stop()]);
    },
  };
}
