// The code host's part of the feeds: hooks where possible, replay of what was missed, and polling of what has no hook.
import { repoKey } from '@svc/contract/repo-name';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { byTimer, every, type Repeat } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { api } from '../../api.ts';
import type { Config } from '../../config.ts';
import type { FeedSecrets } from '../../feeds/delivery.ts';
import type { Receiver } from '../../feeds/io/receiver.ts';
import type { PolledFeed } from '../../feeds/polled-feed.ts';
import { unpolled } from '../../feeds/polled-feed.ts';
import { createGh, type Gh } from '../gh.ts';
import { type HookHold, hookHold } from '../hook-plan.ts';
import { type CoverageReport, coverageReport, nothingWatched, pollingReport } from '../polling-report.ts';
import { type CodehostProblem, codehostProblemWords } from '../problem.ts';
import { RECONCILE_EVERY_MS, type Reconciled, type RoundParts, type Rounds } from '../rounds.ts';
import { createHookApi, hookMemoryFile, openHookMemory } from './hooks.ts';
import { createReplay, type DeliveryReport } from './replay.ts';
import { createSubscriptions } from './subscribe.ts';

/** Besides every start and reconnect. */
const REPLAY_EVERY_MS = 6 * 3_600_000;

/** The least time between rounds that events trigger: the call budget has to last. */
const ROUNDS_APART_MS = 300_000;

export type CodehostFeed = {
  /** Subscribes what is watched, then replays the last hour, then polls. */
  begin: () => Promise<void>;
  /** A repository was found in a signal file: it is subscribed like a watched one, once. */
  discover: (repo: string) => void;
  /** The configuration has changed: what is watched, the channel, or the secrets. */
  reconfigure: () => void;
  /** Deliveries may have been missed. */
  replaySoon: () => Promise<void>;
  /** A round would find out something that is unknown: run the next one earlier. */
  roundSoon: () => void;
  /** Runs a round that starts after this call. */
  roundNow: () => Promise<void>;
  /** The same for every watched repository, whether its webhook works or not; callers at the same time share a round. */
  pollNow: () => Promise<PolledFeed>;
  gh: Gh;
  compare: (options: { withinMs: number; repair: boolean }) => Promise<DeliveryReport[]>;
  coverage: () => CoverageReport[];
  figures: () => ApiAnswer<typeof api.getFeeds>['codehost'];
  /** Calls made, and the additional calls that polling everything would have made. */
  meter: () => { made: number; avoided: number };
  stop: () => Promise<void>;
};

export async function createCodehostFeed(options: {
  configs: () => readonly Config[];
  /** A channel that is set only in a project's committed file. */
  committedChannel: () => string | undefined;
  environment: Environment;
  dataDir: string;
  secrets: () => FeedSecrets;
  receiver: Receiver;
  log: EventLog;
  ticketPrefixes: () => readonly string[];
  logger: Logger;
  now: () => number;
  /** Resolves when every line that is in the log now has been folded. */
  caughtUp: () => Promise<void>;
  /** What is polled, round by round. */
  createRounds: (parts: RoundParts) => Rounds;
  /** What the hook of a repository has to report. */
  hookEvents: (configs: readonly Config[], repo: string) => readonly string[];
  /** How programs and timers run; replaced in a simulation. */
  run?: RunCommand;
  repeat?: Repeat;
}): Promise<CodehostFeed> {
  const { configs, log, logger, now, caughtUp, hookEvents, run = runCommand, repeat = byTimer } = options;
  const stopping = new AbortController();
  const watched = (): string[] => configs().flatMap(({ svc }) => svc.monitor.github.watchRepos);
  const repos = new Map(watched().map((repo) => [repoKey(repo), repo]));
  /** Those from signal files: they stay, whatever is configured. */
  const discovered = new Set<string>();
  let hasBegun = false;
  const channelUrl = (): string | undefined =>
    configs()
      .map(({ svc }) => svc.monitor.github.smeeChannel)
      .find((url) => url !== undefined);
  const heldBack = (repo: string): HookHold | null =>
    hookHold({
      repo,
      configs: configs(),
      isMet: discovered.has(repoKey(repo)),
      isCommittedChannel: channelUrl() !== undefined && channelUrl() === options.committedChannel(),
    });
  const gh = createGh({ environment: options.environment, run, now, signal: stopping.signal });
  const hooks = createHookApi(gh);
  /** The secret of the project that watches the repository; the first secret if no project does. */
  const secretFor = (repo: string): string | undefined => {
    const owner = configs().find(({ svc }) => svc.monitor.github.watchRepos.includes(repo));
    const named = owner && options.environment[owner.svc.monitor.github.webhookSecretEnv];
    return named === undefined || named === '' ? options.secrets().values[0] : named;
  };
  const subscriptions = createSubscriptions({
    hooks,
    channelUrl,
    secretFor,
    events: (repo) => hookEvents(configs(), repo),
    heldBack,
    memory: await openHookMemory(hookMemoryFile(options.dataDir)),
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
  const reconciler = options.createRounds({
    gh,
    append: log.appendOnce,
    isCovered: subscriptions.isCovered,
    ticketPrefixes: options.ticketPrefixes,
    now,
    lastSeq: log.lastSeq,
    repos: () => [...repos.values()],
  });
  /** Why the last replay or the last round failed; null if it succeeded. */
  const problems: Record<'replay' | 'round', CodehostProblem | null> = { replay: null, round: null };
  let lastRoundAt: number | null = null;
  /** True until the first round has ended, and during each round, which may take minutes if the host does not answer. */
  let isAsking = true;
  let lastBegunAt = Number.NEGATIVE_INFINITY;
  let cancelEarlier: (() => void) | null = null;
  /** A round triggered by events only checks pull requests: deployments have their own events. */
  let isEarly = false;
  /** A caller waits for a complete round, or it is the first one: an early round is then made complete. */
  let isWholeWanted = true;
  /** A person asks for a poll now: the next round does not rely on webhooks. */
  let isEveryRepoWanted = false;
  /** What the newest round did; null if it failed as a whole. */
  let lastRound: Reconciled | null = null;
  const failed = (error: unknown): void => {
    if (!stopping.signal.aborted) logger.error({ err: error }, 'polling the code host failed');
  };
  const replays = every(
    REPLAY_EVERY_MS,
    async () => {
      problems.replay = await note(replay.replay());
      // A hook that turned out to be gone was forgotten: it is created again.
      await subscriptions.ensureAll(repos.values());
    },
    failed,
    repeat,
  );
  const rounds = every(
    RECONCILE_EVERY_MS,
    async () => {
      if (repos.size === 0) return;
      lastBegunAt = now();
      isAsking = true;
      await subscriptions.retryDue();
      const deploys = isWholeWanted || !isEarly;
      const everyRepo = isEveryRepoWanted;
      isWholeWanted = isEveryRepoWanted = false;
      isEarly = false;
      lastRound = await reconciler.run({ deploys, everyRepo });
      const { problems: found, ...done } = lastRound;
      isAsking = false;
      problems.round = found[0]?.problem ?? null;
      if (problems.round === null) lastRoundAt = now();
      logger.info({ ...done, problems: found.length }, 'reconciled with the code host');
    },
    (error) => {
      lastRound = null;
      failed(error);
    },
    repeat,
  );

  async function note(replayed: Promise<DeliveryReport[]>): Promise<CodehostProblem | null> {
    const reports = await replayed;
    for (const report of reports) {
      if (report.missing > 0 || report.problem !== null) logger.info(report, 'replay');
    }
    return reports.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  /** The settings of a hook: if the channel or the secret changes, it is checked again. */
  const hookSettings = (repo: string): string =>
    JSON.stringify([channelUrl(), secretFor(repo), heldBack(repo), hookEvents(configs(), repo)]);
  const subscribedWith = new Map([...repos].map(([key, repo]) => [key, hookSettings(repo)]));

  function add(repo: string): void {
    if (repos.has(repoKey(repo))) return;
    repos.set(repoKey(repo), repo);
    subscribedWith.set(repoKey(repo), hookSettings(repo));
    if (hasBegun) subscribeDiscovered(repo).catch(failed);
  }

  async function subscribeAll(): Promise<void> {
    await subscriptions.ensureAll(repos.values());
    await replays.runAfresh();
  }

  async function subscribeDiscovered(repo: string): Promise<void> {
    await subscriptions.ensure(repo);
    await replays.runAfresh();
    roundSoon();
  }

  function roundSoon(): void {
    if (cancelEarlier !== null || stopping.signal.aborted) return;
    const wait = Math.max(1, Math.min(lastBegunAt + ROUNDS_APART_MS - now(), ROUNDS_APART_MS));
    cancelEarlier = repeat(async () => {
      cancelEarlier?.();
      cancelEarlier = null;
      isEarly = true;
      await rounds.runAfresh();
    }, wait);
  }

  return {
    gh,
    discover(repo) {
      discovered.add(repoKey(repo));
      add(repo);
    },
    reconfigure() {
      const wanted = new Set(watched().map(repoKey));
      for (const [key, repo] of repos) {
        if (wanted.has(key) || discovered.has(key)) continue;
        repos.delete(key);
        subscriptions.forget(repo);
      }
      for (const repo of watched()) add(repo);
      const changed = [...repos].filter(([key, repo]) => subscribedWith.get(key) !== hookSettings(repo));
      for (const [key, repo] of changed) {
        subscribedWith.set(key, hookSettings(repo));
        subscriptions.forget(repo);
      }
      if (hasBegun && changed.length > 0) subscribeAll().catch(failed);
    },
    async begin() {
      hasBegun = true;
      if (repos.size === 0) return;
      await subscriptions.ensureAll(repos.values());
      await replays.runNow();
      await caughtUp();
      await rounds.runNow();
    },
    replaySoon: () => (subscriptions.coverage().length === 0 ? Promise.resolve() : replays.runAfresh()),
    roundSoon,
    roundNow() {
      isWholeWanted = true;
      return rounds.runAfresh();
    },
    async pollNow() {
      if (repos.size === 0) return unpolled('codehost', 'disabled', nothingWatched);
      isWholeWanted = isEveryRepoWanted = true;
      await rounds.runAfresh();
      if (lastRound === null || stopping.signal.aborted)
        return unpolled('codehost', 'failed', {
          why: 'the poll did not end',
          remedy: 'See: svc monitor logs',
        });
      const { checked, logged: newEvents, problems: found } = lastRound;
      // The board shows what was found when the caller has the answer.
      await caughtUp();
      const [first, ...others] = found;
      const done = { feed: 'codehost', name: 'code host', checked, newEvents } as const;
      if (first === undefined) return { ...done, state: 'polled', why: null, remedy: null };
      const { why, remedy } = codehostProblemWords(first.problem);
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      return { ...done, state: 'failed', why: `${first.repo}: ${why}${more}`, remedy };
    },
    compare: replay.compareDeliveries,
    coverage: () => subscriptions.coverage().map(coverageReport),
    meter: reconciler.meter,
    figures() {
      const budget = gh.figures();
      const report = pollingReport({
        watches: repos.size > 0,
        lastAt: lastRoundAt,
        problem: problems.round ?? problems.replay ?? (isAsking ? gh.unanswered() : null),
        clockAheadMs: budget.clockAheadMs,
      });
      return { ...report, calls: reconciler.meter(), budget };
    },
    async stop() {
      stopping.abort();
      cancelEarlier?.();
      await Promise.all([replays.stop(), rounds.stop()]);
    },
  };
}
