// Whether an event can arrive now: which ways can bring its topic, and whether one of them is open. Lines of our own need
// only the daemon. Those of the code host and the tracker come through their feed, or are found by polling:
//
//   the feed     brings every topic of its service, unless it is off, or its deliveries are refused or cannot be stored.
//   polling      finds pull requests, reviews, checks and deployments of watched repositories, and the tracker's issues.
//
// A feed that is blind was set up, and what it misses is not known: the event counts as one that cannot arrive, even if
// polling might find it later.

import { repoKey } from '@svc/contract/repo-name';
import type { Topic } from '../../kernel/log/topics.ts';
import type { ReportedFeeds } from '../feeds/judge-feeds.ts';
import { polledCodehostTopics } from '../pull-requests/poll-differences.ts';
import { polledTrackerTopics } from '../tracker/polled-issue.ts';

export type AwaitedEvent = {
  /** Any of these topics. */
  topics: readonly Topic[];
  /** In this repository, `owner/name`; undefined for any. */
  repo?: string | undefined;
};

export type Obstacle = { why: string; remedy: string | null };

type Service = 'codehost' | 'tracker';
type Way = 'open' | Obstacle;

const serviceNames = { codehost: 'code host', tracker: 'tracker' } as const;
/** Deliveries come in, but none becomes a line. */
const closedCodes: ReadonlySet<string | null> = new Set(['auth-failing', 'deliveries-waiting']);

/** Why no such event can arrive now; undefined if one can. */
export function arrivalObstacle(report: ReportedFeeds, { topics, repo }: AwaitedEvent): Obstacle | undefined {
  const services = new Set(topics.map(serviceOf));
  const blind = report.tunnels.find(
    ({ feeds, grade }) => grade === 'blind' && [...services].some((service) => bringsTo(feeds, service)),
  );
  if (blind !== undefined)
    return {
      why: `The ${blind.feeds.join(' and ')} feed is blind: ${blind.why ?? 'nothing arrives'}`,
      remedy: blind.remedy,
    };
  const obstacles: Obstacle[] = [];
  for (const topic of topics) {
    const service = serviceOf(topic);
    if (service === undefined) return undefined;
    const ways = waysOf(report, service, topic, repo);
    if (ways.includes('open')) return undefined;
    obstacles.push(joined(service, ways));
  }
  // One reason is enough: the one of the first topic.
  return obstacles[0];
}

function serviceOf(topic: Topic): Service | undefined {
  if (topic.startsWith('codehost.')) return 'codehost';
  return topic.startsWith('tracker.') ? 'tracker' : undefined;
}

function bringsTo(feeds: readonly string[], service: Service | undefined): boolean {
  return service !== undefined && feeds.includes(service);
}

function waysOf(report: ReportedFeeds, service: Service, topic: Topic, repo: string | undefined): Way[] {
  // Tickets that are issues of a repository come with the code host's deliveries.
  const hasIssues = report.tracker.teams.some(({ team }) => team.includes('/'));
  const tunnels = report.tunnels.filter(
    ({ feeds }) =>
      bringsTo(feeds, service) || (service === 'tracker' && hasIssues && bringsTo(feeds, 'codehost')),
  );
  const polling =
    service === 'codehost' ? codehostPolling(report, topic, repo) : trackerPolling(report.tracker, topic);
  return [...tunnels.map(tunnelWay), polling];
}

function tunnelWay({ feeds, grade, code, why, remedy }: ReportedFeeds['tunnels'][number]): Way {
  const isClosed = grade === 'disabled' || grade === 'blind' || closedCodes.has(code);
  if (!isClosed) return 'open';
  const state = grade === 'disabled' ? 'off' : grade;
  return { why: `the ${feeds.join(' and ')} feed is ${state}${because(why)}`, remedy };
}

function codehostPolling({ codehost, repos }: ReportedFeeds, topic: Topic, repo: string | undefined): Way {
  if (!polledCodehostTopics.has(topic)) return notPolled(topic);
  const { state, why, remedy } = codehost;
  if (state === 'disabled') return { why: `the code host is not polled${because(why)}`, remedy };
  if (state === 'failing') return { why: `the code host cannot be polled${because(why)}`, remedy };
  const isWatched = repo === undefined || repos.some((watched) => repoKey(watched.repo) === repoKey(repo));
  if (isWatched || state === 'starting') return 'open';
  return { why: `${repo} is not watched`, remedy: `Run: svc setup-webhooks --add-repo ${repo}` };
}

function trackerPolling({ state, why, remedy, teams }: ReportedFeeds['tracker'], topic: Topic): Way {
  if (!polledTrackerTopics.has(topic)) return notPolled(topic);
  if (state === 'disabled')
    return { why: `the tracker is not polled${because(why ?? null)}`, remedy: remedy ?? null };
  const [failing] = teams.filter(({ error }) => error !== null);
  if (failing === undefined || teams.some(({ error }) => error === null)) return 'open';
  return { why: `the tracker cannot be polled${because(failing.error)}`, remedy: failing.remedy };
}

function notPolled(topic: Topic): Obstacle {
  return { why: `polling does not find ${topic}`, remedy: null };
}

function because(why: string | null): string {
  return why === null ? '' : ` (${why})`;
}

/** What is easiest to fix comes last: polling needs no relay. */
function joined(service: Service, ways: readonly Way[]): Obstacle {
  const closed = ways.filter((way) => way !== 'open');
  const remedies = closed.flatMap(({ remedy }) => (remedy === null ? [] : [remedy]));
  return {
    why: `No feed delivers this event of the ${serviceNames[service]}: ${closed.map(({ why }) => why).join(', and ')}`,
    remedy: remedies.at(-1) ?? null,
  };
}
