// Can this screen be trusted? The components of the daemon's health report as one list, worst first. A component that
// is off because it is not configured is not broken, but is listed too.
import type { ReportedProblem } from '@svc/core';
import type { Meaning } from '../parts/meaning.ts';

export type TrustPart = {
  name: string;
  /** live, polling, late, blind, degraded, failing, disabled, connecting, starting. */
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
/** How a repository is followed: by its webhook, or only by polling. */
type Repo = {
  repo: string;
  by: string;
  since?: string | null;
  code?: string | null;
  why?: string | null;
  remedy?: string | null;
};
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
    part('Code host polling', sources?.codehost),
    part('Tracker polling', sources?.tracker),
    part('Event log', log),
    part('Board', state),
    part('Outbox', outbox),
    spool === undefined || spool.rejected === 0 ? null : part('Spool', { ...spool, state: 'degraded' }),
    part('Status files', signals),
    part('Runs', runs),
    part('Rules', rules),
    part('Metrics', telemetry?.metrics),
    part('Logs', telemetry?.logs),
    ...health.configuration.problems.flatMap(misconfigured),
  ].filter((known) => known !== null);
  return parts.toSorted((one, other) => rank(one) - rank(other));
}

/** Nothing on the board depends on them: the doctor screen lists them. */
const backends: ReadonlySet<string> = new Set(['Metrics', 'Logs']);

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

/** A repository that cannot have a webhook is polled: its events arrive late. */
function unhooked({ repo, by, since, code, why, remedy }: Repo): TrustPart | null {
  // It was chosen, so nothing is wrong.
  if (by === 'webhook' || code === 'polling-only' || why === undefined || why === null) return null;
  return part(repo, { state: 'polled', since: since ?? null, why, remedy: remedy ?? null });
}

/** A receiver without a secret is off; its feed reports that. */
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

type TrustLine = { meaning: Meaning; words: string };

/** Above a past board, "live" alone would speak of another board than the one that is shown. */
export function trustLineAt(parts: readonly TrustPart[], { isPast }: { isPast: boolean }): TrustLine {
  const line = trustLine(parts);
  if (!isPast) return line;
  if (line.meaning === 'proven') return { meaning: 'unknown', words: 'This board is not live' };
  return { ...line, words: `This board is not live. ${line.words}` };
}

/** One quiet line if nothing is wrong; components that are off do not count as wrong. */
function trustLine(parts: readonly TrustPart[]): TrustLine {
  const isOff = ({ state }: TrustPart): boolean => state === 'disabled';
  const wrong = parts.filter((one) => isWrong(one) && !isOff(one));
  const [worst] = wrong;
  if (worst !== undefined) {
    const more = wrong.length === 1 ? '' : `, and ${wrong.length - 1} more`;
    const why = worst.why === null ? '' : `: ${worst.why}`;
    const verb = /^[^/]*s$/.test(worst.name) ? 'are' : 'is';
    return { meaning: worst.meaning, words: `${worst.name} ${verb} ${worst.state}${why}${more}` };
  }
  const coming = parts.filter(({ meaning }) => meaning === 'motion').map(({ name }) => name);
  if (coming.length > 0) return { meaning: 'motion', words: `Connecting: ${listed(coming)}` };
  const off = parts.filter((one) => isOff(one) && !backends.has(one.name)).map(({ name }) => name);
  if (parts.every(isOff)) return { meaning: 'unknown', words: 'Everything is off' };
  return {
    meaning: 'proven',
    words:
      off.length === 0
        ? 'Everything is live'
        : `Live (${listed(off)} ${off.length === 1 ? 'is' : 'are'} off)`,
  };
}

/** An unknown state counts as wrong. */
function isWrong({ meaning }: TrustPart): boolean {
  return meaning === 'broken' || meaning === 'you' || meaning === 'unknown';
}

const MOST_NAMED = 3;

/** `logs, metrics and 2 more`. */
function listed(names: readonly string[]): string {
  const lower = names.map((name) => name.charAt(0).toLowerCase() + name.slice(1));
  if (lower.length <= MOST_NAMED) return lower.join(', ');
  return `${lower.slice(0, MOST_NAMED - 1).join(', ')} and ${lower.length - MOST_NAMED + 1} more`;
}
