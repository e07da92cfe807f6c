// A team's day, told as facts: what was left from the days before, a morning, an afternoon. The same seed tells
// the same day. Minute 0 is eight in the morning; the nights before are silent.
import { createRandom } from '../random.ts';
import type { Fact } from './fact.ts';
import { plannedTicket, plannedTickets, runs } from './product.ts';
import { type Story, tellRun, tellWave, usualWalk } from './story.ts';
import { tellBerths } from './story-berths.ts';
import { tellWinter } from './story-winter.ts';
import { type ChangeTeller, createChangeTeller } from './teller.ts';
import type { Told } from './told.ts';
import { hostileVoice, plainVoice } from './voice.ts';

/** How far the day has come, in minutes. At `start` only the days before have happened. */
export const momentOf = { start: 0, midday: 270, end: 570 } as const;
export type Moment = keyof typeof momentOf;

export type TeamDay = {
  facts: readonly Fact[];
  /** The minute up to which it has happened already. */
  nowIs: number;
  timeOf: (minute: number) => Date;
  /** What comes after is told from now on, a minute of the day in so many milliseconds. */
  goLive: (from: number, msPerMinute: number) => void;
};

/** `nowIs` is the minute of the day that `now` stands for. */
export function teamDay(given: {
  seed: number;
  now: Date;
  nowIs: number;
  hostile?: boolean;
  livingPid: number;
}): TeamDay {
  const { seed, now, nowIs, hostile = false, livingPid } = given;
  const live = { from: now.getTime(), msPerMinute: 0 };
  const timeOf = (minute: number): Date =>
    new Date(
      Math.round(
        minute <= nowIs
          ? now.getTime() + (minute - nowIs) * 60_000
          : live.from + (minute - nowIs) * live.msPerMinute,
      ),
    );
  const facts: Fact[] = [];
  let deployments = 50_000;
  const told: Told = {
    facts,
    random: createRandom(seed),
    voice: hostile ? hostileVoice : plainVoice,
    timeOf,
    livingPid,
    nextDeployment: () => (deployments += 1),
  };
  const tellers = new Map<string, ChangeTeller>(
    plannedTickets.map((planned) => [planned.ticket, createChangeTeller(told, planned)]),
  );
  const of = (ticket: string): ChangeTeller => tellers.get(ticket) ?? unknown(ticket);
  const story: Story = { ...told, of };
  tellFeeds(story);
  tellHarbourHours(story);
  tellBerths(story);
  tellWinter(story);
  tellBacklog(story);
  return {
    facts: facts.toSorted((one, other) => one.at - other.at),
    nowIs,
    timeOf,
    goLive(from, msPerMinute) {
      live.from = from;
      live.msPerMinute = msPerMinute;
    },
  };
}

function unknown(ticket: string): never {
  throw new Error(`The tape has no ticket ${ticket}`);
}

/** The laptop sleeps at night: the feed is blind until it wakes. */
function tellFeeds({ facts }: Story): void {
  const feed = (at: number, grade: string, from: string, reason: string): void =>
    void facts.push({
      at,
      way: 'daemon',
      draft: () => ({
        event: `monitor.feed.${grade}`,
        scope: {},
        detail: { feed: 'codehost', from, reason },
      }),
    });
  feed(-2_870, 'live', 'connecting', 'the relay answers');
  feed(-4, 'blind', 'live', 'the relay does not answer');
  feed(-1, 'live', 'blind', 'the relay answers again');
  feed(133, 'late', 'live', 'a delivery took 94 s');
  feed(141, 'live', 'late', 'deliveries are on time');
}

/** Two days ago: a small run from its start to its end. */
function tellHarbourHours(story: Story): void {
  const run = runs.hours;
  tellRun(story, run, -2_860, 'started');
  tellWave(story, run, 1, -2_859, 'started');
  for (const [index, ticket] of run.waves[0].entries()) {
    const change = story.of(ticket);
    const begin = -2_880 - index;
    change.created(begin);
    const opened = change.walks(-2_858 + index * 4, usualWalk(20));
    change.opens(opened);
    change.passes(opened + 2);
    change.reviews(opened + 19, 'approved', 'Good.');
    change.merges(opened + 24);
    change.deploys(opened + 26, 'production', { state: 'success', after: 6 });
    change.moves(opened + 33, 'Done');
    change.verified(opened + 35, 'passed', '212 tests, nothing weakened');
  }
  tellWave(story, run, 1, -2_640, 'completed');
  tellRun(story, run, -2_639, 'completed');
}

function tellBacklog({ of, facts }: Story): void {
  of('TID-141').created(-1_300, 'Backlog');
  of('TID-142').created(95, 'Backlog');
  of('TID-142').comments(
    101,
    'sofia',
    'The harbour office publishes it as a table; ask before reading it every minute.',
  );
  facts.push({
    at: 222,
    way: 'event',
    draft: () => ({
      event: 'feedback.finding_added',
      scope: { repo: plannedTicket('TID-126').repo },
      detail: { title: 'Two date pickers, with two ideas of a week', severity: 'low', skill: 'review' },
    }),
  });
}
