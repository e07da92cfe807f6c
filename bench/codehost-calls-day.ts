// One simulated day: the daemon's module for the code host (`createCodehostFeed`, with its budget, hooks, replay and
// rounds) and its log and receiver, on a clock that jumps, with a fake code host and simulated workers. The day starts
// with a first start in the middle of their work. With webhooks, one delivery in a hundred is lost, and about every six
// hours the tunnel is down for up to 90 seconds; without, there is no channel, and everything is polled.
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { Config } from '../packages/core/src/index.ts';
import { createCodehostFeed } from '../packages/monitor/src/feeds/codehost-feed.ts';
import { openEventLog } from '../packages/monitor/src/log/event-log.ts';
import { codehostFeed, readSecrets } from '../packages/monitor/src/receive/feed.ts';
import { createReceiver, type Receiver } from '../packages/monitor/src/receive/receiver.ts';
import { createLogger } from '../packages/monitor/src/telemetry/logger.ts';
import { ghEnvironment, startFakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { listen, scriptFolder } from '../packages/testkit/src/script.ts';
import { createSimulatedClock } from './codehost-calls-clock.ts';
import { createGhStandIn } from './codehost-calls-gh.ts';
import { compareWithTruth, followKnown, type Truth } from './codehost-calls-known.ts';
import { startWorld, WARM_UP_MS } from './codehost-calls-world.ts';

const START = Date.parse('2026-03-02T00:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOST = 0.01;
const OUTAGE_EVERY_HOURS = 6;
/** How long the tunnel takes to notice a connection that is open only at our end. */
const LONGEST_OUTAGE_MS = 90_000;
/** Two rounds: the first may find a merge, the second its deployment. */
const CLOSING_MS = 21 * MINUTE_MS;
const TOKEN = 'token';
/** The kinds of calls, by method and path. */
const kinds = [
  ['pull requests', /^POST \/api\/graphql/],
  ['lists of deliveries', /\/deliveries\?/],
  ['payloads', /\/deliveries\/\d/],
  ['hooks', /\/hooks(?:\?|\/|$)/],
  ['deployments', /\/deployments\?/],
  ['deployment statuses', /\/deployments\/\d+\/statuses/],
  ['other', /^/],
] as const;

export type DayOptions = {
  workers: number;
  repos: number;
  hours: number;
  webhooks: boolean;
  seed: number;
  /** Whether the real program runs for each call. */
  realGh: boolean;
};

/** `line`: the method and the path. */
export type Call = { at: number; line: string };

export type Day = {
  options: DayOptions;
  /** Those of the day, without those at the end that only serve the comparison. */
  calls: Call[];
  startedAt: number;
  /** What polling everything every 30 seconds would have cost, by the daemon's own meter. */
  callsOfPollingEverything: number;
  truth: Truth;
};

export async function simulateDay(options: DayOptions): Promise<Day> {
  const { hours, webhooks, seed } = options;
  const folder = scriptFolder('codehost-calls');
  const calls: Call[] = [];
  const clock = createSimulatedClock(START - WARM_UP_MS, () => noteCalls());
  const { now } = clock;
  const codehost = await startFakeCodehost({ folder, now });
  const noteCalls = (): void => {
    for (const line of codehost.calls()) calls.push({ at: now(), line });
    codehost.forgetCalls();
  };
  codehost.addToken(TOKEN);
  const names = Array.from({ length: options.repos }, (_, index) => `acme/repo-${index + 1}`);
  const repos = names.map((name) => codehost.cloud.addRepo(name));

  mkdirSync(join(folder, 'events'));
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'index.db'),
    clock: { now },
    host: { id: 'simulated', name: 'simulated' },
    newId: () => crypto.randomUUID(),
  });
  await log.ready;
  const known = followKnown(log, now);
  const standIn = createGhStandIn();
  const environment = { ...ghEnvironment(codehost, TOKEN), SVC_WEBHOOK_SECRET: 'c'.repeat(64) };
  const run: RunCommand = options.realGh ? runCommand : standIn.run;
  const relay = await startRelay(() => receiver);
  const channel = webhooks ? { smeeChannel: relay.url } : {};
  const configs = [
    Config.parse({ svc: { monitor: { github: { ...channel, watchRepos: names, hookRepos: names } } } }),
  ];
  const feedSecrets = readSecrets(configs, environment).codehost;
  const secrets = () => feedSecrets;
  const ticketPrefixes = () => ['ENG'];
  const receiver = createReceiver({
    feed: codehostFeed,
    secrets,
    log,
    ticketPrefixes,
    now,
    onOutcome: () => undefined,
  });
  const chance = createRandom(seed);
  let isDown = false;
  const world = startWorld({
    clock,
    codehost,
    repos,
    workers: options.workers,
    seed,
    hasBegun: () => now() >= START,
    isHeard: () => !chance.chance(LOST) && !isDown,
  });

  await clock.runUntil(START);

  const failures: string[] = [];
  const feed = await createCodehostFeed({
    committedChannel: () => undefined,
    configs: () => configs,
    environment,
    dataDir: folder,
    secrets,
    receiver,
    log,
    ticketPrefixes,
    logger: createLogger({ write: (line) => void failures.push(line) }, 'warn'),
    now,
    view: known.view,
    run,
    repeat: clock.repeat,
  });

  // The daemon requests a round whenever it could complete what a line left open: here after every one of these.
  known.onDoubt(feed.roundSoon);

  const reconnect = async (): Promise<void> => {
    isDown = false;
    await feed.replaySoon();
  };
  const planOutages = (): void => {
    const random = createRandom(seed + 1);
    for (let from = 0; from < hours; from += OUTAGE_EVERY_HOURS) {
      const within = Math.min(OUTAGE_EVERY_HOURS, hours - from) * HOUR_MS - 10 * MINUTE_MS;
      clock.after(from * HOUR_MS + random.next() * within, () => {
        isDown = true;
        clock.after(random.next() * LONGEST_OUTAGE_MS, reconnect);
      });
    }
  };

  try {
    clock.after(0, feed.begin);
    if (webhooks) planOutages();
    const end = START + hours * HOUR_MS;
    await clock.runUntil(end);
    const ofTheDay = [...calls];
    const { calls: meter } = feed.figures() as { calls: { made: number; avoided: number } };
    world.freeze();
    if (webhooks) clock.after(0, reconnect);
    await clock.runUntil(end + CLOSING_MS);
    const truth = compareWithTruth({ repos, known, log, touched: world.touched, startedAt: START });
    const problems = [...truth.problems, ...failures];
    if (meter.made !== ofTheDay.length)
      problems.push(`the meter counts ${meter.made} calls, the code host ${ofTheDay.length}`);
    return {
      options,
      calls: ofTheDay,
      startedAt: START,
      callsOfPollingEverything: meter.made + meter.avoided,
      truth: { ...truth, problems },
    };
  } finally {
    await feed.stop();
    await known.stop();
    await log.close();
    await relay.close();
    await codehost.close();
    standIn.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Relay and tunnel in one: passes posts to the receiver; the sender gets 200. */
async function startRelay(receiver: () => Receiver): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    buffer(request)
      .then((body) => receiver().receive({ headers: request.headers, body }))
      .then(({ status }) => response.writeHead(status === 200 ? 200 : 500).end())
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const { port, close } = await listen(server);
  return { url: `http://127.0.0.1:${port}/channel`, close };
}

/** The number of calls by kind. */
export function countByKind(calls: readonly Call[]): Map<string, number> {
  const made = Map.groupBy(calls, ({ line }) => kinds.find(([, pattern]) => pattern.test(line))?.[0]);
  return new Map(
    kinds.map(([kind]) => [kind, made.get(kind)?.length ?? 0] as const).filter(([, count]) => count > 0),
  );
}
