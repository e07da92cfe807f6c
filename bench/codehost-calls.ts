// Calls an hour to the code host over a simulated day: 3, 30 and 100 workers over 10 repositories, with and without
// webhooks, compared with the cost of polling everything every 30 seconds in the same run; and those that read and move
// tickets, at Linear or as issues of one of the repositories.
// `npm run bench:codehost-calls`; `-- --hours 2 --workers 30` is a small one, `-- --seed 2` another day.
// At the end of each day the log must have every pull request, merge and deployment as the code host does. One hour is
// run a second time with the real `gh`: both must make the same calls.
import {
  describeMachine,
  failUnless,
  medianOf,
  printProblems,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { type Call, countByKind, type Day, type DayOptions, simulateDay } from './codehost-calls-day.ts';

const options = scriptOptions({
  hours: 24,
  /** 0 stands for 3, 30 and 100. */
  workers: 0,
  repos: 10,
  seed: 1,
  'gh-hours': 1,
  /** Goals for the mean over the day, with webhooks for up to 30 workers; without for any number. */
  'goal-on': 50,
  'goal-off': 500,
  /** For the calls that read and move tickets, whichever tracker they are in. */
  'goal-tickets': 100,
});
const GOAL_WORKERS = 30;
const trackers = {
  linear: 'Linear',
  labels: 'issues, their states are labels',
  project: 'issues, their states are the status of a project',
};
const HOUR_MS = 3_600_000;
const sizes = options.workers > 0 ? [options.workers] : [3, 30, 100];

const started = performance.now();
console.log(describeMachine());
console.log(
  `${options.hours} simulated hours, ${options.repos} repositories, seed ${options.seed}; 1 % of the deliveries is lost, the tunnel reconnects every 6 hours`,
);
for (const webhooks of [true, false])
  for (const workers of sizes) print(await simulateDay({ ...dayOptions(workers), webhooks }));
for (const tracker of ['labels', 'project'] as const)
  print(await simulateDay({ ...dayOptions(options.workers || GOAL_WORKERS), tracker }));
if (options['gh-hours'] > 0) await checkStandIn();
console.log(`${secondsSince(started)} s`);

function dayOptions(workers: number): DayOptions {
  const { hours, repos, seed } = options;
  return { workers, repos, hours, seed, webhooks: true, realGh: false, tracker: 'linear' };
}

function print(day: Day): void {
  const { workers, webhooks, hours, tracker } = day.options;
  const { calls, truth } = day;
  const forTickets = day.ticketCalls / hours;
  const mean = calls.length / hours;
  const everything = day.callsOfPollingEverything / hours;
  const worst = worstHour(calls);
  const goal = goalFor(workers, webhooks);
  const goalOfTickets = options['goal-tickets'];
  const isMet = goal === undefined || mean < goal;
  const isMetForTickets = forTickets < goalOfTickets;
  const perHour = Map.groupBy(calls, ({ at }) => Math.floor((at - day.startedAt) / HOUR_MS)).values();
  const hoursOver = [...perHour].filter(({ length }) => length >= (goal ?? Infinity)).length;
  const verdict =
    goal === undefined ? '' : `; ${goalWords(goal, isMet)}; ${hoursOver} of ${hours} hours above it`;
  console.log(
    [
      `${workers} workers, webhooks ${webhooks ? 'on' : 'off'}: ${mean.toFixed(1)} calls an hour${verdict}`,
      `  for tickets:           ${forTickets.toFixed(1)} an hour (${trackers[tracker]}); ${goalWords(goalOfTickets, isMetForTickets)}`,
      `  polling everything:    ${everything.toFixed(0)} an hour, ${(everything / mean).toFixed(0)} times as many`,
      `  by kind, an hour:      ${kindsOf(calls, hours)}`,
      `  worst 60 minutes:      ${worst.calls.length} from hour ${((worst.from - day.startedAt) / HOUR_MS).toFixed(1)} on: ${kindsOf(worst.calls, 1)}`,
      `  the log at the end:    ${truth.pullRequests} pull requests, ${truth.merges} merges, ${truth.deliveries} deliveries (${truth.lines.live} live, ${truth.lines.replay} replayed), ${truth.lines.poll} lines by polling; wrong or missing: ${truth.problems.length}`,
      `  a merge is known:      after ${seconds(truth.lags, medianOf)} (median), ${seconds(truth.lags, (lags) => Math.max(...lags))} (worst)`,
    ].join('\n'),
  );
  printProblems(truth.problems);
  failUnless(isMet && isMetForTickets && truth.problems.length === 0);
}

function goalWords(goal: number, isMet: boolean): string {
  return `goal under ${goal}: ${isMet ? 'met' : 'MISSED'}`;
}

function goalFor(workers: number, webhooks: boolean): number | undefined {
  if (!webhooks) return options['goal-off'];
  return workers <= GOAL_WORKERS ? options['goal-on'] : undefined;
}

function kindsOf(calls: readonly Call[], hours: number): string {
  return [...countByKind(calls)]
    .map(([kind, count]) => `${kind} ${(count / hours).toFixed(hours === 1 ? 0 : 1)}`)
    .join(', ');
}

/** The most calls in any sixty minutes, not only in full hours. */
function worstHour(calls: readonly Call[]): { from: number; calls: Call[] } {
  let worst: { from: number; calls: Call[] } = { from: 0, calls: [] };
  let first = 0;
  for (const [index, { at }] of calls.entries()) {
    while ((calls[first]?.at ?? at) <= at - HOUR_MS) first += 1;
    const size = index + 1 - first;
    if (size > worst.calls.length)
      worst = { from: calls[first]?.at ?? at, calls: calls.slice(first, index + 1) };
  }
  return worst;
}

function seconds(lags: readonly number[], of: (lags: readonly number[]) => number): string {
  return lags.length === 0 ? 'never' : `${Math.round(of(lags) / 1000)} s`;
}

/** Counting with the replacement is only valid if the real program makes the same calls. */
async function checkStandIn(): Promise<void> {
  const hours = options['gh-hours'];
  const small: DayOptions = { ...dayOptions(sizes.at(-2) ?? GOAL_WORKERS), hours, tracker: 'project' };
  const [standIn, real] = [await simulateDay(small), await simulateDay({ ...small, realGh: true })];
  const isSame =
    kindsOf(standIn.calls, 1) === kindsOf(real.calls, 1) && standIn.ticketCalls === real.ticketCalls;
  const problems = [...standIn.truth.problems, ...real.truth.problems];
  console.log(
    `${hours} h with the real gh, ${small.workers} workers: ${real.calls.length} calls and ${real.ticketCalls} for tickets against ${standIn.calls.length} and ${standIn.ticketCalls}: ${isSame ? 'the same, by kind' : 'NOT the same'}; wrong or missing: ${problems.length}`,
  );
  failUnless(isSame && problems.length === 0);
}
