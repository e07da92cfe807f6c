// Many processes add findings to one queue at once. Then a process that is killed repeatedly drains the queue into a
// fake tracker, while answers of the tracker are lost on purpose. At the end another process adds a finding each time
// the last one is filed: while the queue is being removed.
// Every line must be complete, and every finding must be filed exactly once.
// `npm run chaos:findings` (20 processes, 500 findings each, 50 kills); `-- --processes 5 --findings 40 --kills 6`.
// `--sabotage` removes the drain's journal at each kill: the verdict has to notice.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFindingLine } from '../packages/monitor/src/features/findings/findings.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  endOf,
  scriptFolder,
  scriptOptions,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { scenario } from './scenario.ts';
import { openVerbs } from './verbs.ts';

const options = scriptOptions({
  processes: 20,
  findings: 500,
  /** Added while the queue is removed. */
  late: 100,
  kills: 50,
  seed: 1,
  sabotage: false,
});
const TOKEN = 'lin_api_chaos';
const LONGEST_MS = 20 * WAIT_MS;
/** Added if the queue is empty before all kills are done. */
const MORE = 50;

const random = createRandom(options.seed);
const home = scriptFolder('chaos-findings');
const queue = join(home, '.svc', 'findings', 'current.jsonl');
const early = options.processes * options.findings;
/** Findings that were added. */
let total = early;
const tracker = await startFakeTracker();
const problems: string[] = [];
const figures: string[] = [];

setUp();
const startVerbs = await openVerbs(home, { SVC_TRACKER_API_URL: tracker.url });
await scenario({
  title: `${options.processes} processes with ${options.findings} findings each, ${options.kills} kills, seed ${options.seed}`,
  world: tracker,
  async load() {
    await addAll();
    await drainAll();
  },
  verdict() {
    judge();
    return { figures, problems };
  },
  broken: options.sabotage && { what: 'a drain without memory', wanted: /are more than one ticket/ },
});

function setUp(): void {
  const configure = (path: string, svc: object): void => writeInto(home, path, { svc });
  configure('.svc/config.json', {
    projectKey: 'chaos',
    project: { ticketPrefix: 'ABC' },
    tracker: { teamKey: 'ABC' },
    feedback: { autoFile: true },
  });
  const consentFor = ['tracker:ABC', 'codehost:svc-dev/svc'];
  configure('.config/svc/config.json', { feedback: { consentFor } });
  configure('.config/svc/config-chaos.json', { tracker: { apiToken: TOKEN, teamKey: 'ABC' } });
  tracker.addToken(TOKEN);
  tracker.setQuota({ limit: 1e9, remaining: 1e9 });
  tracker.cloud.addTeam({ key: 'ABC' });
}

async function addAll(): Promise<void> {
  const started = performance.now();
  const adders = Array.from({ length: options.processes }, (_, number) =>
    add(number * options.findings, options.findings),
  );
  for (const code of await Promise.all(adders))
    if (code !== 0) problems.push(`a process that added ended with ${code}`);
  const lines = readFileSync(queue, 'utf8').trimEnd().split('\n');
  const whole = lines.flatMap((line) => {
    const read = readFindingLine(line);
    return 'finding' in read ? [read.finding.title] : [];
  });
  figures.push(
    `${options.processes} processes added ${early} findings in ${secondsSince(started)} s: ${whole.length} complete lines, ${lines.length - whole.length} others, ${new Set(whole).size} different`,
  );
  if (lines.length !== early || new Set(whole).size !== early) problems.push('lines are lost or torn');
}

type PlannedKill = { while: 'starting' } | { while: 'filing'; after: number };

/** Most are killed in the middle of their work, some during the start: after a query to the tracker, before filing. */
function planKills(): PlannedKill[] {
  const points = Array.from({ length: options.kills }, () => random.below(early)).toSorted((a, b) => a - b);
  return points.map((after, index) => (index % 4 === 3 ? { while: 'starting' } : { while: 'filing', after }));
}

async function drainAll(): Promise<void> {
  const started = performance.now();
  const plan = planKills();
  const counts = { lives: 0, starting: 0, filing: 0, lost: 0 };
  while (existsSync(queue) || plan.length > 0) {
    if (performance.now() - started > LONGEST_MS) return void problems.push('the drain does not end');
    if (!existsSync(queue)) {
      await add(total, MORE);
      total += MORE;
    }
    counts.lives += 1;
    const [kill] = plan;
    const { killed, lost } = await liveUntilKilled(kill);
    counts.lost += lost;
    if (kill === undefined || !killed) continue;
    plan.shift();
    counts[kill.while] += 1;
    if (options.sabotage) loseMemory();
  }
  const late = await addWhileRemoved().catch(() => {
    problems.push('a finding is neither in the queue nor filed');
    return 0;
  });
  figures.push(
    `${total} findings drained in ${secondsSince(started)} s: ${counts.lives} processes, ${counts.filing} killed while filing, ${counts.starting} while starting, ${counts.lost} answers lost on purpose; ${options.late} added while the queue was removed, in ${late} processes`,
  );
}

/** The number of drains: a finding that arrives before the queue is removed is filed by the same one. */
async function addWhileRemoved(): Promise<number> {
  const adder = startVerbs();
  const ended = endOf(adder);
  // It may have ended with an error; that is reported below.
  adder.stdin.on('error', () => undefined);
  let left = options.late;
  let lives = 0;
  const addNext = (): void => {
    if (left === 0) return void adder.stdin.end();
    if (tracker.cloud.issues.length < total) return;
    left -= 1;
    adder.stdin.write(addingOf(total));
    total += 1;
  };
  const isOver = (): boolean => adder.exitCode !== null && !existsSync(queue);
  for (; ; lives += 1) {
    addNext();
    await until(() => existsSync(queue) || isOver()).catch((error: unknown) => {
      adder.kill('SIGKILL');
      throw error;
    });
    if (isOver()) break;
    const drained = endOf(startDrain()).then(() => true);
    while (!(await Promise.race([drained, sleep(1, false)]))) addNext();
  }
  if ((await ended) !== 0) problems.push('the last process that added failed');
  return lives;
}

/** One drain, and whether it was killed as planned before it ended. */
async function liveUntilKilled(kill: PlannedKill | undefined): Promise<{ killed: boolean; lost: number }> {
  const born = { made: tracker.cloud.issues.length, calls: tracker.calls().length };
  const made = (): number => tracker.cloud.issues.length - born.made;
  const calls = 1 + random.below(2);
  const own = 1 + random.below(5);
  // Between two tickets, and at every point of creating one.
  let turns = random.below(12);
  const isDue = (): boolean => {
    if (kill === undefined) return false;
    if (kill.while === 'starting') return tracker.calls().length >= born.calls + calls;
    return made() >= own && born.made + made() >= kill.after && --turns < 0;
  };
  const child = startDrain();
  const ended = endOf(child);
  const isOver = ended.then(() => true);
  let nextLoss = random.below(60);
  let lost = 0;
  while (!(await Promise.race([isOver, sleep(1, false)]))) {
    if (made() >= nextLoss) {
      tracker.failNext(
        { kind: 'cut', when: random.pick(['before', 'after', 'within'] as const) },
        // Sometimes the search for it is lost as well.
        { field: random.chance(0.1) ? 'issues' : 'issueCreate' },
      );
      lost += 1;
      nextLoss = made() + 20 + random.below(80);
    }
    if (isDue()) child.kill('SIGKILL');
  }
  const wasStarting = made() === 0;
  const killed = (await ended) === 'SIGKILL' && (kill?.while === 'starting') === wasStarting;
  return { killed, lost };
}

/** What prevents duplicate tickets: the journal, the key in the text, and the id. */
function loseMemory(): void {
  rmSync(`${queue}.filed`, { force: true });
  for (const issue of tracker.cloud.issues) Object.assign(issue, { id: randomUUID(), description: '' });
}

function judge(): void {
  const { issues, labels } = tracker.cloud;
  const times = Map.groupBy(issues, ({ title }) => title);
  const twice = [...times.values()].filter(({ length }) => length > 1).length;
  const missing = Array.from({ length: total }, (_, number) => `finding ${number}`).filter(
    (title) => !times.has(title),
  );
  figures.push(`tickets ${issues.length} of ${total}, twice ${twice}, missing ${missing.length}`);
  if (twice > 0) problems.push(`${twice} findings are more than one ticket`);
  if (missing.length > 0) problems.push(`no ticket for ${missing.slice(0, 5).join(', ')}`);
  if (existsSync(`${queue}.filed`) || existsSync(`${queue}.unreadable`))
    problems.push('a journal is left over');
  if (labels.length !== 4) problems.push(`${labels.length} labels, not 4`);
  const unlabelled = issues.filter(({ labelIds }) => labelIds.length !== 2).length;
  if (unlabelled > 0) problems.push(`${unlabelled} tickets without their labels`);
  // No daemon is running: the helpers' reports are in the spool, each ticket under its own delivery.
  const spool = join(home, 'svc', 'spool');
  const names = readdirSync(spool).filter((name) => !name.startsWith('.'));
  const reports = names.map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')));
  const filed = reports.filter(({ event }) => event === 'feedback.finding_filed');
  const deliveries = new Set(filed.map(({ deliveryId }) => deliveryId)).size;
  figures.push(`reported: ${filed.length} times filed, of ${deliveries} tickets`);
  if (deliveries !== total) problems.push(`${deliveries} tickets are reported, not ${total}`);
}

/** Adds findings one after the other in a separate process; returns its exit code. */
function add(from: number, count: number): Promise<number | string> {
  const adder = startVerbs();
  for (let number = from; number < from + count; number += 1) adder.stdin.write(addingOf(number));
  adder.stdin.end();
  return endOf(adder);
}

function addingOf(number: number): string {
  // Bodies of every length, even longer than a pipe accepts in one piece.
  const body = 'x'.repeat((number * 7919) % (number % 50 === 0 ? 70_000 : 300));
  const words = ['--title', `finding ${number}`, '--body', body, '--skill', `skill-${number % 3}`];
  return `${JSON.stringify(['add-finding', ...words])}\n`;
}

function startDrain() {
  const child = startVerbs('ignore');
  child.stdin.end('["findings","drain"]\n');
  return child;
}
