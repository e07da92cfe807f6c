// Can this screen be trusted? Every feed and backend of the daemon's health report, as one list of parts, the
// worst first. A part that is off because nobody configured it is not broken; it is named all the same.
import type { ReportedProblem } from '@svc/core';
import type { Meaning } from '../parts/meaning.ts';

export type TrustPart = {
  name: string;
  /** In a word: live, polling, late, blind, degraded, failing, disabled, connecting, starting. */
  state: string;
  meaning: Meaning;
  since: string | number | null;
  why: string | null;
  remedy: string | null;
};

type Reported = {
  state?: string;
  grade?: string;
  since?: string | number | null;
  why?: string | null;
  remedy?: string | null;
  degraded?: string | null;
  problem?: string | null;
  failing?: string | null;
};
type Tunnel = Reported & { feeds: string[] };
/** How a repository is followed: by its webhook, or only by asking. */
type Repo = { repo: string; by: string; since?: string | null; why?: string | null; remedy?: string | null };
/** The fields of `GET /api/health` that are read here. */
export type HealthReport = {
  status: string;
  version: string;
  now: string;
  startedAt: string;
  configuration: { folders: string[]; problems: ReportedProblem[] };
  feeds?: Record<string, { receiver: string; why?: string; remedy?: string }>;
  log?: Reported;
  state?: Reported;
  outbox?: Reported & { givenUp?: number };
  signals?: Reported;
  runs?: Reported;
  rules?: Reported;
  spool?: { rejected: number; why?: string | null; remedy?: string | null };
  sources?: { tunnels: Tunnel[]; repos?: Repo[]; codehost: Reported; tracker: Reported };
  telemetry?: { metrics: Reported; logs: Reported };
};

export function trustParts(health: HealthReport): TrustPart[] {
  const { log, state, outbox, signals, runs, rules, spool, sources, telemetry } = health;
  const parts = [
    ...(sources?.tunnels ?? []).map((tunnel) =>
      part(`${tunnel.feeds.map((feed) => feedNames[feed] ?? feed).join(' and ')} feed`, tunnel),
    ),
    ...(sources?.repos ?? []).map(unhooked),
    ...Object.entries(health.feeds ?? {}).map(receiver),
    part('Code host by timer', sources?.codehost),
    part('Tracker by timer', sources?.tracker),
    part('Event log', log),
    part('Board', state),
    part('Outbox', outbox),
    spool === undefined || spool.rejected === 0 ? null : part('Spool', { ...spool, state: 'degraded' }),
    part('Signal files', signals),
    part('Runs', runs),
    part('Rules', rules),
    part('Metrics', telemetry?.metrics),
    part('Logs', telemetry?.logs),
    ...health.configuration.problems.flatMap(misconfigured),
  ].filter((known) => known !== null);
  return parts.toSorted((one, other) => rank(one) - rank(other));
}

const feedNames: Record<string, string> = { codehost: 'Code host', tracker: 'Tracker' };

const meanings: Record<string, Meaning> = {
  live: 'proven',
  polling: 'proven',
  connecting: 'motion',
  starting: 'motion',
  late: 'you',
  polled: 'you',
  degraded: 'broken',
  failing: 'broken',
  blind: 'broken',
};

/** A repository whose webhook cannot be had is asked by timer: what happens there comes late. */
function unhooked({ repo, by, since, why, remedy }: Repo): TrustPart | null {
  if (by === 'webhook' || why === undefined || why === null) return null;
  return part(repo, { state: 'polled', since: since ?? null, why, remedy: remedy ?? null });
}

/** One that nobody gave a secret is off, and named by its feed. */
function receiver([feed, { receiver: state, ...trouble }]: [
  string,
  NonNullable<HealthReport['feeds']>[string],
]): TrustPart | null {
  return state === 'degraded' ? part(`${feedNames[feed] ?? feed} deliveries`, { state, ...trouble }) : null;
}

/** A deprecated name works; the configuration screen shows it. */
function misconfigured({ severity, text, remedy }: ReportedProblem): TrustPart[] {
  if (severity === 'deprecated') return [];
  const isError = severity === 'error';
  const meaning = isError ? 'broken' : 'you';
  return [
    {
      name: 'Configuration',
      state: isError ? 'degraded' : 'ignored',
      meaning,
      since: null,
      why: text,
      remedy,
    },
  ];
}

function part(name: string, reported: Reported | undefined): TrustPart | null {
  if (reported === undefined) return null;
  const state = reported.grade ?? reported.state ?? 'unknown';
  return {
    name,
    state,
    meaning: meanings[state] ?? 'unknown',
    since: reported.since ?? null,
    why: reported.why ?? reported.degraded ?? reported.problem ?? reported.failing ?? null,
    remedy: reported.remedy ?? null,
  };
}

const order: Meaning[] = ['broken', 'you', 'motion', 'unknown', 'review', 'proven'];
const rank = ({ meaning }: TrustPart): number => order.indexOf(meaning);

/** One quiet line when nothing is wrong; what is only switched off does not disturb it. */
export function trustLine(parts: readonly TrustPart[]): { meaning: Meaning; words: string } {
  const isOff = ({ state }: TrustPart): boolean => state === 'disabled';
  const wrong = parts.filter((one) => isWrong(one) && !isOff(one));
  const [worst] = wrong;
  if (worst !== undefined) {
    const more = wrong.length === 1 ? '' : `, and ${wrong.length - 1} more`;
    const why = worst.why === null ? '' : `: ${worst.why}`;
    return { meaning: worst.meaning, words: `${worst.name} is ${worst.state}${why}${more}` };
  }
  const coming = parts.filter(({ meaning }) => meaning === 'motion').map(({ name }) => name);
  if (coming.length > 0) return { meaning: 'motion', words: `Connecting: ${listed(coming)}` };
  const off = parts.filter(isOff).map(({ name }) => name);
  if (off.length === parts.length) return { meaning: 'unknown', words: 'Everything is switched off' };
  return {
    meaning: 'proven',
    words: off.length === 0 ? 'Everything is live' : `Live. Switched off: ${listed(off)}`,
  };
}

/** A state that nobody knows is not well. */
function isWrong({ meaning }: TrustPart): boolean {
  return meaning === 'broken' || meaning === 'you' || meaning === 'unknown';
}

const MOST_NAMED = 3;

/** `Logs, Metrics and 2 more`. */
function listed(names: readonly string[]): string {
  if (names.length <= MOST_NAMED) return names.join(', ');
  return `${names.slice(0, MOST_NAMED - 1).join(', ')} and ${names.length - MOST_NAMED + 1} more`;
}
