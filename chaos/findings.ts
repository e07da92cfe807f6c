// Many processes add findings to one queue at once. Then the queue is drained into a fake tracker by a process that
// is killed again and again, while answers of the tracker are lost on purpose and one more process adds findings.
// Every line must be whole, and every finding a ticket, none twice.
// `npm run chaos:findings` (20 processes, 500 findings each, 50 kills); `-- --processes 5 --findings 40 --kills 6`.
// `--sabotage` takes the drain's notes away at each kill: the verdict has to notice.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFindingLine } from '../packages/core/src/index.ts';
import { describeMachine } from '../packages/testkit/src/daemon/process-figures.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';

const options = scriptOptions({
  processes: 20,
  findings: 500,
  /** Added while the queue is drained. */
  late: 100,
  kills: 50,
  seed: 1,
  sabotage: false,
});
const TOKEN = 'lin_api_chaos';
const LONGEST_MS = 20 * 60_000;

const random = createRandom(options.seed);
const home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-chaos-findings-')));
const queue = join(home, '.svc', 'findings', 'current.jsonl');
const early = options.processes * options.findings;
const total = early + options.late;
const tracker = await startFakeTracker();
const children = new Set<ChildProcess>();
const problems: string[] = [];
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

setUp();
console.log(describeMachine());
await addAll();
await drainAll();
judge();
await tracker.close();
for (const problem of problems) console.log(`WRONG: ${problem}`);
if (options.sabotage === problems.length > 0) console.log('as it must be');
else process.exitCode = 1;

function setUp(): void {
  const svc = {
    projectKey: 'chaos',
    project: { ticketPrefix: 'ABC' },
    tracker: { teamKey: 'ABC' },
    feedback: { autoFile: true },
  };
  mkdirSync(join(home, '.svc'));
  mkdirSync(join(home, '.config', 'svc'), { recursive: true });
  writeFileSync(join(home, '.svc', 'config.json'), JSON.stringify({ svc }));
  const secrets = join(home, '.config', 'svc', 'config-chaos.json');
  writeFileSync(secrets, JSON.stringify({ svc: { tracker: { apiToken: TOKEN } } }), { mode: 0o600 });
  tracker.addToken(TOKEN);
  tracker.setQuota({ limit: 1e9, remaining: 1e9 });
  tracker.cloud.addTeam({ key: 'ABC' });
}

async function addAll(): Promise<void> {
  const started = performance.now();
  const adders = Array.from({ length: options.processes }, (_, number) =>
    start(['add', number * options.findings, options.findings], 'inherit'),
  );
  for (const code of await Promise.all(adders.map(endOf)))
    if (code !== 0) problems.push(`a process that added ended with ${code}`);
  const lines = readFileSync(queue, 'utf8').trimEnd().split('\n');
  const whole = lines.flatMap((line) => {
    const read = readFindingLine(line);
    return 'finding' in read ? [read.finding.title] : [];
  });
  console.log(
    `${options.processes} processes added ${early} findings in ${secondsSince(started)} s: ${whole.length} whole lines, ${lines.length - whole.length} others, ${new Set(whole).size} different`,
  );
  if (lines.length !== early || new Set(whole).size !== early) problems.push('lines are lost or torn');
}

async function drainAll(): Promise<void> {
  const started = performance.now();
  const late = endOf(start(['add', early, options.late], 'inherit'));
  const points = Array.from({ length: options.kills }, () => random.below(early)).toSorted((a, b) => a - b);
  const figures = { lives: 0, kills: 0, lost: 0 };
  for (let isLateDone = false; existsSync(queue) || !isLateDone; ) {
    if (performance.now() - started > LONGEST_MS) return void problems.push('the drain does not end');
    // The last life begins after the last finding was added.
    isLateDone = await Promise.race([late.then(() => true), sleep(0, false)]);
    figures.lives += 1;
    const child = start(['drain'], 'ignore');
    const ended = endOf(child).then(() => true);
    let nextLoss = tracker.cloud.issues.length + random.below(60);
    while (!(await Promise.race([ended, sleep(1, false)]))) {
      const made = tracker.cloud.issues.length;
      if (made >= nextLoss) {
        tracker.failNext(
          { kind: 'cut', when: random.pick(['before', 'after', 'within'] as const) },
          // Now and then the question whether it is there is lost as well.
          { field: random.chance(0.1) ? 'issues' : 'issueCreate' },
        );
        figures.lost += 1;
        nextLoss = made + 20 + random.below(80);
      }
      // Some die while they start, most in the middle of their work.
      const [point] = points;
      if (point === undefined || (made < point && !random.chance(0.0005))) continue;
      points.shift();
      await sleep(random.next() * 12);
      child.kill('SIGKILL');
      await ended;
      figures.kills += 1;
      if (options.sabotage) loseMemory();
    }
  }
  console.log(
    `${total} findings drained in ${secondsSince(started)} s: ${figures.lives} lives, ${figures.kills} killed, ${figures.lost} answers lost on purpose`,
  );
  if (figures.kills < options.kills)
    problems.push(`only ${figures.kills} of ${options.kills} kills took place`);
}

/** What keeps a ticket from being made twice: the notes, the key in its text, and its id. */
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
  console.log(`tickets ${issues.length} of ${total}, twice ${twice}, missing ${missing.length}`);
  if (twice > 0) problems.push(`${twice} findings are more than one ticket`);
  if (missing.length > 0) problems.push(`no ticket for ${missing.slice(0, 5).join(', ')}`);
  if (existsSync(`${queue}.filed`) || existsSync(`${queue}.unreadable`)) problems.push('notes are left over');
  if (labels.length !== 4) problems.push(`${labels.length} labels, not 4`);
  const unlabelled = issues.filter(({ labelIds }) => labelIds.length !== 2).length;
  if (unlabelled > 0) problems.push(`${unlabelled} tickets without their labels`);
  // No daemon runs: what the helpers told waits in the spool, each ticket under its own delivery.
  const spool = join(home, 'svc', 'spool');
  const names = readdirSync(spool).filter((name) => !name.startsWith('.'));
  const told = names.map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')));
  const filed = told.filter(({ event }) => event === 'feedback.finding_filed');
  const deliveries = new Set(filed.map(({ deliveryId }) => deliveryId)).size;
  console.log(`told: ${filed.length} times filed, of ${deliveries} tickets`);
  if (deliveries !== total) problems.push(`${deliveries} tickets are told, not ${total}`);
}

function start(words: readonly (string | number)[], errors: 'inherit' | 'ignore'): ChildProcess {
  const script = join(import.meta.dirname, 'findings-process.ts');
  const child = spawn(process.execPath, [script, ...words.map(String)], {
    cwd: home,
    env: { HOME: home, PATH: process.env['PATH'], SVC_TRACKER_API_URL: tracker.url },
    stdio: ['ignore', 'ignore', errors],
  });
  children.add(child);
  return child;
}

async function endOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  children.delete(child);
  return code;
}

function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}
