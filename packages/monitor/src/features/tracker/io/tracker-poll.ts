// Polling of the tracker: every 5 minutes, one query per team.
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@svc/lib/errors';
import { every, type Repeat, type Rounds } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { api } from '../../api.ts';
import type { Gh } from '../../codehost/gh.ts';
import type { Config } from '../../config.ts';
import { type PolledFeed, unpolled } from '../../feeds/polled-feed.ts';
import { createTrackerReconciler } from '../reconcile.ts';
import { sharedPrefixes, trackerOf } from '../tracker-of.ts';
import { openTracker } from './open-tracker.ts';
import { TrackerError } from './tracker.ts';

const POLL_EVERY_MS = 300_000;
const MOST_OPEN = 300;
/** Several deliveries are one poll. */
const HINTS_APART_MS = 10_000;

export type TrackerPoll = {
  start: () => void;
  stop: () => Promise<void>;
  /** A poll that starts after this call; callers at the same time share it. */
  pollNow: () => Promise<PolledFeed[]>;
  figures: () => ApiAnswer<typeof api.getFeeds>['tracker'];
  /** Requests since the start. */
  calls: () => number;
};

type Figures = {
  team: string;
  lastAt: string | null;
  newEvents: number;
  error: string | null;
  remedy: string | null;
};

export function createTrackerPoll(options: {
  configs: readonly Config[];
  apiUrl: string;
  gh: Gh;
  /** The tickets that are open as far as we know, the most recent first. */
  openTickets: () => readonly string[];
  onChanged?: (issue: { identifier: string; updatedAt: string }) => void;
  log: EventLog;
  logger: Logger;
  now: () => number;
  repeat?: Repeat;
}): TrackerPoll {
  const { configs, apiUrl, gh, openTickets, log, logger, now, repeat } = options;
  const stopping = new AbortController();
  const shared = sharedPrefixes(configs);
  const teams = configs.flatMap((config) => {
    const chosen = trackerOf(config);
    if (chosen.provider === undefined || chosen.teamId === null) return [];
    if (shared.has(chosen.teamKey?.toUpperCase() ?? '')) return [];
    const { teamId, teamKey = teamId } = chosen;
    return [{ chosen, teamId, key: chosen.provider === 'github' ? teamId : teamKey }];
  });
  const polls = [...new Map(teams.map((team) => [team.teamId, team])).values()].map(
    ({ chosen, teamId, key }) => {
      const clock = { now };
      const client = openTracker(chosen, { apiUrl, fetch, clock, signal: stopping.signal, gh: () => gh });
      const reconciler = createTrackerReconciler({
        client,
        teamId,
        openTickets: () => openTickets().slice(0, MOST_OPEN),
        onChanged: options.onChanged,
        log,
        now,
      });
      const figures: Figures = { team: key, lastAt: null, newEvents: 0, error: null, remedy: null };
      /** What the newest poll found; null if it failed. */
      let newest: { changed: number; newEvents: number } | null = null;
      const work = async (): Promise<void> => {
        const found = await reconciler.reconcile();
        newest = found;
        figures.lastAt = new Date(now()).toISOString();
        figures.newEvents += found.newEvents;
        figures.error = figures.remedy = null;
      };
      const onFailure = (error: unknown): void => {
        newest = null;
        figures.error = messageOf(error);
        figures.remedy = remedyFor(error);
        logger.warn({ team: key, why: figures.error, remedy: figures.remedy }, 'polling the tracker failed');
      };
      const polled = (): PolledFeed => {
        const state = newest === null ? 'failed' : 'polled';
        const { changed: checked, newEvents } = newest ?? { changed: null, newEvents: null };
        const { team: name, error: why, remedy } = figures;
        return { feed: 'tracker', name, state, checked, newEvents, why, remedy };
      };
      return { work, onFailure, polled, figures, calls: client.calls, quota: client.quota };
    },
  );
  let rounds: Rounds[] = [];
  /** A delivery that only reports that something changed: the poll, which finds what, runs soon. */
  async function watchForHints(): Promise<void> {
    const { signal } = stopping;
    for await (const entries of log.subscribe({ signal, whenSlow: 'read-file' })) {
      if (!entries.some(({ line }) => line.event === 'tracker.other' && line.via === 'live')) continue;
      await pause(HINTS_APART_MS, undefined, { signal });
      await pollAll();
    }
  }
  const pollAll = () => Promise.all(rounds.map((round) => round.runAfresh()));
  const stopped = (error: unknown): void => {
    if (!stopping.signal.aborted)
      logger.error({ err: error }, 'deliveries no longer shorten the wait of the tracker poll');
  };
  return {
    start() {
      rounds = polls.map(({ work, onFailure }) => every(POLL_EVERY_MS, work, onFailure, repeat));
      for (const round of rounds) void round.runNow();
      if (rounds.length > 0) watchForHints().catch(stopped);
    },
    async stop() {
      stopping.abort();
      await Promise.all(rounds.map((round) => round.stop()));
    },
    async pollNow() {
      if (polls.length === 0) return [unpolled('tracker', 'disabled', noTeam)];
      await pollAll();
      return polls.map(({ polled }) => polled());
    },
    calls: () => polls.reduce((sum, { calls }) => sum + calls(), 0),
    figures: () => ({
      state: stateOf(polls.map(({ figures }) => figures)),
      ...(polls.length === 0 && noTeam),
      teams: polls.map(({ figures, calls, quota }) => ({
        ...figures,
        calls: calls(),
        quota: quota() ?? null,
      })),
    }),
  };
}

const noTeam = {
  why: 'no project has both an API token and a team id, or the issues of its repository as tickets',
  remedy:
    'Run: svc config set svc.tracker.provider github, or svc config set svc.tracker.apiToken - < token.txt and svc resolve-tracker-ids',
};

function stateOf(teams: readonly Figures[]): 'disabled' | 'failing' | 'polling' {
  if (teams.length === 0) return 'disabled';
  return teams.some(({ error }) => error !== null) ? 'failing' : 'polling';
}

/** No user waits here: temporary problems are retried, and a changed configuration is used at once. */
function remedyFor(error: unknown): string {
  if (!(error instanceof TrackerError)) return 'See: svc monitor logs';
  switch (error.problem.kind) {
    case 'unavailable':
    case 'rate-limited':
    case 'malformed':
      return 'Nothing to do: it is retried automatically every 5 minutes';
    case 'unauthorised':
    case 'forbidden':
      return error.remedy ?? 'See: svc monitor logs';
    case 'not-found':
    case 'graphql':
      return error.remedy ?? 'See: svc monitor logs';
  }
}
