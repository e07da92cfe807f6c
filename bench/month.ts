// A month of 2 GB: the response time of the index, the start time of `tail`, and the daemon's memory.
// `npm run bench:month` creates the file and removes it afterwards.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codehostTopics } from '../packages/monitor/src/features/codehost/topics.ts';
import { rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import { createDaemonHome, runSvc, startDaemon } from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  askJson,
  describeMachine,
  judgeGoal,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';

/** All lines of one past month. */
const START = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 1);
const STEP_MS = 500;

const options = scriptOptions({ megabytes: 2048, 'goal-list': 100, 'goal-tail': 200, 'goal-rss': 250 });
const home = createDaemonHome('bench-month');
const svc = async (...words: string[]): Promise<void> => {
  const { code, printed } = await runSvc(home, words);
  if (code !== 0) throw new Error(`svc ${words.join(' ')}: ${printed}`);
};
let highest = 0;

console.log(describeMachine());
const { lines, seconds: writing } = writeMonth();
console.log(`${lines} lines, ${options.megabytes} MB, written in ${writing} s`);
const started = performance.now();
const server = startDaemon(home);
const sampling = setInterval(() => (highest = Math.max(highest, rssMegabytes(server.pid))), 250);
try {
  const { port } = await server.ready;
  console.log(`it answers after ${secondsSince(started)} s`);
  while ((await indexLag(port)) > 0) await sleep(100);
  const indexing = (performance.now() - started) / 1000;
  console.log(
    `index built from scratch after ${indexing.toFixed(1)} s (${Math.round(lines / indexing)} lines a second)`,
  );
  const middle = new Date(START + (lines / 2) * STEP_MS).toISOString();
  for (const [name, query] of [
    ['by ticket', 'ticket=ABC-777'],
    ['by topic', 'event=codehost.deployment_status.failure'],
    ['by time', `since=${middle}&order=oldest-first`],
    ['by pull request', 'repo=acme/repo-7&pr=77'],
    ['by ticket and topic', 'ticket=ABC-777&event=codehost.pr.*'],
    ['no match', 'ticket=NONE-1'],
  ] as const) {
    const times: number[] = [];
    let found = 0;
    for (let round = 0; round < 11; round += 1) {
      const before = performance.now();
      const { events } = await askJson<{ events: object[] }>(
        `http://127.0.0.1:${port}/api/events?${query}&limit=50`,
      );
      times.push(performance.now() - before);
      found = events.length;
    }
    judgeGoal(`list ${name} (${found} lines): worst of 11`, Math.max(...times), options['goal-list'], 'ms');
  }
  const command = await timed(() => svc('events', 'list', '--ticket', 'ABC-777', '--limit', '5'));
  console.log(`svc events list --ticket, as a command: ${command.toFixed(0)} ms`);
  judgeGoal('svc events tail, from command to first line', await timed(tailOnce), options['goal-tail'], 'ms');
  clearInterval(sampling);
  await server.stop();
  const again = performance.now();
  const second = startDaemon(home);
  await second.ready;
  console.log(`start with the index: ${secondsSince(again)} s`);
  await second.stop();
  judgeGoal('highest RSS of the daemon', highest, options['goal-rss'], 'MB');
} finally {
  clearInterval(sampling);
  await server.kill();
  home.remove();
}

async function indexLag(port: number): Promise<number> {
  const health = await askJson<{ log: { indexLag: number } }>(`http://127.0.0.1:${port}/api/health`);
  return health.log.indexLag;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** `wait-for` is a tail that ends with its first line. */
async function tailOnce(): Promise<void> {
  await svc('events', 'wait-for', '--since', String(lines - 1), '--timeout', '10');
}

/** The worst case for the index: hardly two lines share a term. */
function writeMonth(): { lines: number; seconds: number } {
  mkdirSync(home.eventsDir, { recursive: true, mode: 0o700 });
  const before = performance.now();
  const topics = Object.keys(codehostTopics);
  const file = openSync(
    join(home.eventsDir, `${new Date(START).toISOString().slice(0, 7)}.jsonl`),
    'w',
    0o600,
  );
  const padding = 'x'.repeat(500);
  let bytes = 0;
  let seq = 0;
  while (bytes < options.megabytes * 1024 * 1024) {
    const batch: string[] = [];
    for (let index = 0; index < 1000; index += 1) batch.push(lineText((seq += 1), topics, padding));
    bytes += writeSync(file, batch.join(''));
  }
  closeSync(file);
  return { lines: seq, seconds: Math.round((performance.now() - before) / 1000) };
}

function lineText(seq: number, topics: readonly string[], padding: string): string {
  const pr = seq % 500;
  return `${JSON.stringify({
    seq,
    ts: new Date(START + seq * STEP_MS).toISOString(),
    id: `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`,
    schemaVersion: 1,
    event: topics[(seq * 7) % topics.length],
    source: 'codehost.webhook',
    via: 'live',
    host: { id: 'bench', name: 'bench' },
    scope: {
      repo: `acme/repo-${seq % 40}`,
      pr,
      ticket: `ABC-${seq % 5000}`,
      sha: String(seq % 9973).padStart(40, '0'),
    },
    detail: { title: `Change number ${pr}`, body: padding },
    deliveryId: `delivery-${seq}`,
  })}\n`;
}
