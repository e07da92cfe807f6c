// A hundred thousand requests that something is wrong with: bytes, headers, sizes, encodings, frames,
// signatures, replays; fair ones among them. A model says what may be answered to each; afterwards the log
// may hold nothing but what was rightly accepted.
// `npm run chaos:bad-input`; `-- --requests 2000 --seed 3` for a short run with other choices; `-- --sabotage`
// gives the daemon a wrong secret, to show that the check can fail.
import { readFileSync } from 'node:fs';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { describeMachine, rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { auditLog, type LogAudit } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { exchange, type KeptConnection, keepConnection } from '../packages/testkit/src/wire/exchange.ts';
import { createSource, type Kind } from './bad-requests/bad-request.ts';
import { createJudge } from './bad-requests/judge.ts';
import { chooseKind, kinds } from './bad-requests/kinds.ts';

const options = scriptOptions({
  requests: 100_000,
  'at-once': 32,
  seed: 1,
  'warm-up': 20_000,
  'rss-mb': 250,
  sabotage: false,
});
const random = createRandom(options.seed);
const home = createDaemonHome('chaos-bad-input');
const port = await freePort(random);
const daemon = startDaemon(home, {
  port,
  environment: options.sabotage ? { SVC_TRACKER_WEBHOOK_SECRET: codehostSecret } : {},
});
const source = createSource(random, port);
const judge = createJudge(source.remember);
const memory: Record<string, number> = {};
let sent = 0;

console.log(describeMachine());
console.log(
  `${options.requests} requests of ${kinds.length} kinds, ${options['at-once']} at once, seed ${options.seed}`,
);
try {
  const { instance } = await daemon.ready;
  memory['start'] = rssMegabytes(daemon.pid);
  const started = performance.now();
  await Promise.all(Array.from({ length: options['at-once'] }, sendOneAfterAnother));
  const seconds = (performance.now() - started) / 1000;
  memory['end'] = rssMegabytes(daemon.pid);
  const isAlive = (await askInstance()) === instance;
  const ending = await daemon.stop();
  report(await auditLog(home.eventsDir), { seconds, isAlive: isAlive && ending === 0 });
} finally {
  await daemon.kill();
  home.remove();
}

async function sendOneAfterAnother(): Promise<void> {
  const connection = keepConnection(port);
  while (sent < options.requests) {
    sent += 1;
    if (sent === Math.min(options['warm-up'], Math.floor(options.requests / 2)))
      memory['warm'] = rssMegabytes(daemon.pid);
    if (sent === Math.floor(options.requests / 2)) memory['middle'] = rssMegabytes(daemon.pid);
    await sendOne(chooseKind(random, sent), connection);
  }
  connection.close();
}

async function sendOne(kind: Kind, connection: KeptConnection): Promise<void> {
  const request = kind.make(source);
  const reply = request.kept ? await connection.exchange(request.pieces) : await exchange(port, request);
  judge.note(kind.name, request, reply);
}

async function askInstance(): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/api/health`);
  const health: { instance?: string } = JSON.parse(await response.text());
  return health.instance;
}

function report(audit: LogAudit, { seconds, isAlive }: { seconds: number; isAlive: boolean }): void {
  console.table(judge.table());
  const errors = errorLines();
  const problems = [...judge.problems(), ...judge.compare(audit), ...audit.problems];
  for (const problem of [...problems, ...errors].slice(0, 30)) console.log(`  ${problem}`);
  const { start = 0, warm = 0, middle = 0, end = 0 } = memory;
  const isFlat = end <= warm * 1.3 || end < options['rss-mb'];
  console.log(
    `${seconds.toFixed(1)} s; RSS MB at start ${start}, warm ${warm}, middle ${middle}, end ${end}: ${isFlat ? 'flat' : 'GROWS'}`,
  );
  console.log(
    `log: ${audit.lines} lines, torn ${audit.torn}, holes ${audit.holes}; answers outside the model ${judge.problems().length}`,
  );
  console.log(
    `requests ${sent} accepted wrongly ${judge.acceptedWrongly()} crashes ${isAlive ? 0 : 1} unhandled ${errors.length}`,
  );
  const isKept = problems.length + errors.length === 0 && isFlat && isAlive;
  const isNoticed = judge.acceptedWrongly() > 0;
  if (options.sabotage) console.log(`sabotage, a wrong secret: ${isNoticed ? 'noticed' : 'NOT NOTICED'}`);
  if (options.sabotage ? !isNoticed : !isKept) process.exitCode = 1;
}

/** What the daemon itself calls an error, and what Node prints of a rejection that nobody caught. */
function errorLines(): string[] {
  const lines = readFileSync(home.output, 'utf8').split('\n');
  return lines.filter((line) => /"level":(50|60)|unhandled|uncaught|\bat .*:\d+:\d+\)?$/i.test(line));
}
