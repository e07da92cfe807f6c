// Calls an hour to the code host over a simulated day: 3, 30 and 100 workers over 10 repositories, with
// webhooks and without, beside what asking for everything every 30 seconds would cost in the same run.
// `npm run bench:codehost-calls`; `-- --hours 2 --workers 30` is a small one, `-- --seed 2` another day.
// At the end of each day the log must know every pull request, merge and deployment as the code host does.
// One hour is run a second time with the real `gh`: both must make the same calls.
import { describeMachine } from '../packages/testkit/src/daemon/process-figures.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { type Day, type DayOptions, simulateDay } from './codehost-calls-day.ts';
import { callKinds, countByKind, perHour, worstHour } from './codehost-calls-figures.ts';

const options = scriptOptions({
  hours: 24,
  /** 0 stands for 3, 30 and 100. */
  workers: 0,
  repos: 10,
  seed: 1,
  'gh-hours': 1,
  /** Of the mean over the day, with webhooks for up to 30 workers; without for any number. */
  'goal-on': 50,
  'goal-off': 500,
});
const GOAL_WORKERS = 30;
const sizes = options.workers > 0 ? [options.workers] : [3, 30, 100];

const started = performance.now();
console.log(describeMachine());
console.log(
  `${options.hours} simulated hours, ${options.repos} repositories, seed ${options.seed}; 1 % of the deliveries is lost, the tunnel reconnects every 6 hours`,
);
let isGood = true;
for (const webhooks of [true, false]) {
  for (const workers of sizes) {
    const day = await simulateDay({ ...dayOptions(workers), webhooks });
    isGood = print(day) && isGood;
  }
}
if (options['gh-hours'] > 0) isGood = (await checkStandIn()) && isGood;
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
if (!isGood) process.exitCode = 1;

function dayOptions(workers: number): DayOptions {
  const { hours, repos, seed } = options;
  return { workers, repos, hours, seed, webhooks: true, realGh: false };
}

function print(day: Day): boolean {
  const { workers, webhooks, hours } = day.options;
  const { calls, truth } = day;
  const mean = calls.length / hours;
  const everything = day.callsOfPollingEverything / hours;
  const worst = worstHour(calls);
  const goal = goalFor(workers, webhooks);
  const isMet = goal === undefined || mean < goal;
  const hoursOver = perHour(day).filter((count) => count >= (goal ?? Infinity)).length;
  const verdict = `goal under ${goal}: ${isMet ? 'met' : 'MISSED'}; ${hoursOver} of ${hours} hours above it`;
  console.log(
    [
      `${workers} workers, webhooks ${webhooks ? 'on' : 'off'}: ${mean.toFixed(1)} calls an hour${goal === undefined ? '' : `; ${verdict}`}`,
      `  asking for everything: ${everything.toFixed(0)} an hour, ${(everything / mean).toFixed(0)} times as many`,
      `  by kind, an hour:      ${kindsOf(calls, hours)}`,
      `  worst 60 minutes:      ${worst.calls.length} from hour ${((worst.from - day.startedAt) / 3_600_000).toFixed(1)} on: ${kindsOf(worst.calls, 1)}`,
      `  the log at the end:    ${truth.pullRequests} pull requests, ${truth.merges} merges, ${truth.deliveries} deliveries (${truth.lines.live} live, ${truth.lines.replay} replayed), ${truth.lines.poll} lines by polling; wrong or missing: ${truth.problems.length}`,
      `  a merge is known:      after ${seconds(truth.lags.at(Math.floor(truth.lags.length / 2)))} (median), ${seconds(truth.lags.at(-1))} (worst)`,
    ].join('\n'),
  );
  for (const problem of truth.problems.slice(0, 20)) console.log(`    ${problem}`);
  return isMet && truth.problems.length === 0;
}

function goalFor(workers: number, webhooks: boolean): number | undefined {
  if (!webhooks) return options['goal-off'];
  return workers <= GOAL_WORKERS ? options['goal-on'] : undefined;
}

function kindsOf(calls: Day['calls'], hours: number): string {
  const counts = countByKind(calls);
  return callKinds
    .filter((kind) => (counts.get(kind) ?? 0) > 0)
    .map((kind) => `${kind} ${((counts.get(kind) ?? 0) / hours).toFixed(hours === 1 ? 0 : 1)}`)
    .join(', ');
}

function seconds(milliseconds: number | undefined): string {
  return milliseconds === undefined ? 'never' : `${Math.round(milliseconds / 1000)} s`;
}

/** Counting with the stand-in is only worth something when the real program makes the same calls. */
async function checkStandIn(): Promise<boolean> {
  const small = { ...dayOptions(sizes.at(-2) ?? GOAL_WORKERS), hours: options['gh-hours'] };
  const [standIn, real] = [await simulateDay(small), await simulateDay({ ...small, realGh: true })];
  const isSame = kindsOf(standIn.calls, 1) === kindsOf(real.calls, 1);
  const problems = [...standIn.truth.problems, ...real.truth.problems];
  console.log(
    `${small.hours} h with the real gh, ${small.workers} workers: ${real.calls.length} calls against ${standIn.calls.length}: ${isSame ? 'the same, by kind' : 'NOT the same'}; wrong or missing: ${problems.length}`,
  );
  return isSame && problems.length === 0;
}
