// One simulated day: the daemon's module for the code host (`createCodehostFeed`, with its budget, hooks, replay and
// rounds), its log and receiver, its poll of the tracker and its moves of tickets, on a clock that jumps, with fakes of
// the code host and of Linear and simulated workers. The day starts with a first start in the middle of their work. The
// tickets are at Linear, or are issues of the first repository. With webhooks, one delivery in a hundred is lost, and
// about every six hours the tunnel is down for up to 90 seconds; without, there is no channel, and everything is polled.
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { createCodehostFeed } from '../packages/monitor/src/features/codehost/io/codehost-feed.ts';
import { codehostFeed } from '../packages/monitor/src/features/codehost/webhook-feed.ts';
import { Config } from '../packages/monitor/src/features/config.ts';
import { roundsOf } from '../packages/monitor/src/features/deploy/reconcile.ts';
import { readSecrets } from '../packages/monitor/src/features/feeds/io/feed.ts';
import { createReceiver, type Receiver } from '../packages/monitor/src/features/feeds/io/receiver.ts';
import { ticketsNotOver } from '../packages/monitor/src/features/tracker/dependencies.ts';
import { hookEventsFor } from '../packages/monitor/src/features/tracker/hook-events.ts';
import {
  createTicketMover,
  moveTicketHandler,
  type TicketMoves,
} from '../packages/monitor/src/features/tracker/io/move-ticket.ts';
import { openTracker } from '../packages/monitor/src/features/tracker/io/open-tracker.ts';
import { createTrackerPoll } from '../packages/monitor/src/features/tracker/io/tracker-poll.ts';
import { issueFact } from '../packages/monitor/src/features/tracker/map-issues.ts';
import { trackedRepos } from '../packages/monitor/src/features/tracker/tracker-of.ts';
import { openEventLog } from '../packages/monitor/src/kernel/log/event-log.ts';
import { createLogger } from '../packages/monitor/src/kernel/telemetry/logger.ts';
import { ghEnvironment, startFakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { listen, scriptFolder } from '../packages/testkit/src/script.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';
import {
  githubTickets,
  linearTickets,
  TRACKER_TOKEN,
  usualTeamStates,
} from '../packages/testkit/src/tracker/tickets.ts';
import { createSimulatedClock } from './codehost-calls-clock.ts';
import { createGhStandIn } from './codehost-calls-gh.ts';
import { compareWithTruth, followKnown } from './codehost-calls-known.ts';
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
const TEAM = 'ENG';
const { work, review, done, canceled } = usualTeamStates;
const stateOfPhase = { inProgress: work, inReview: review, done, canceled };
const ofTickets = /\/(?:issues|labels)\b| tickets$/;
/** The other kinds of calls, by method and path. */
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
  /** At Linear, or issues whose states are labels or the status of a project. */
  tracker: 'linear' | 'labels' | 'project';
};

/** `line`: the method and the path. */
export type Call = { at: number; line: string };

export type Day = Awaited<ReturnType<typeof simulateDay>>;

export async function simulateDay(options: DayOptions) {
  const { hours, webhooks, seed } = options;
  const folder = scriptFolder('codehost-calls');
  const calls: Call[] = [];
  const clock = createSimulatedClock(START - WARM_UP_MS, () => noteCalls());
  const { now } = clock;
  const codehost = await startFakeCodehost({ folder, now });
  const noteCalls = (): void => {
    for (const { line, body } of codehost.requests())
      calls.push({ at: now(), line: /project(?:V2|Items)/i.test(body) ? `${line} tickets` : line });
    codehost.forgetCalls();
  };
  const linear = await startFakeTracker({ now });
  codehost.addToken(TOKEN);
  linear.addToken(TRACKER_TOKEN);
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
  const kept = options.tracker === 'linear' ? linearTickets(linear) : githubTickets(codehost);
  const inProject = options.tracker === 'project';
  const { project, secrets: token } = kept.addTeam(TEAM, {
    repo: names[0] ?? '',
    states: usualTeamStates,
    cached: true,
    inProject,
  });
  const github = { ...channel, watchRepos: names, hookRepos: names };
  const configs = [
    Config.parse({
      svc: {
        project: { ticketPrefix: TEAM },
        ...project,
        tracker: { ...project.tracker, ...token?.tracker },
        monitor: { github },
      },
    }),
  ];
  const feedSecrets = readSecrets(configs, environment).codehost;
  const secrets = () => feedSecrets;
  const ticketPrefixes = () => [TEAM];
  const receiver = createReceiver({
    feed: codehostFeed,
    secrets,
    log,
    ticketPrefixes,
    ticketFact: (type, payload) => issueFact(type, payload, trackedRepos(configs)),
    now,
    onOutcome: () => undefined,
  });
  const failures: string[] = [];
  const logger = createLogger({ write: (line) => void failures.push(line) }, 'warn');
  /** The state of each ticket that was moved since the start. */
  const moved = new Map<string, string>();
  let moves: TicketMoves | undefined;
  const chance = createRandom(seed);
  let isDown = false;
  const world = startWorld({
    clock,
    codehost,
    repos,
    tickets: {
      create: () => kept.newTicket(TEAM, 'Go on'),
      async move(ticket, phase) {
        if (moves === undefined) return;
        moved.set(ticket, stateOfPhase[phase]);
        const key = `${ticket}:${phase}`;
        const ended = await moves.handle({ kind: 'move-ticket', key, seq: 0, ticket, phase });
        if ('failed' in ended) failures.push(`${ticket}: ${ended.failed}`);
      },
    },
    workers: options.workers,
    seed,
    hasBegun: () => now() >= START,
    isHeard: () => !chance.chance(LOST) && !isDown,
  });

  await clock.runUntil(START);

  const feed = await createCodehostFeed({
    committedChannel: () => undefined,
    configs: () => configs,
    environment,
    dataDir: folder,
    secrets,
    receiver,
    log,
    ticketPrefixes,
    logger,
    now,
    caughtUp: known.view.caughtUp,
    createRounds: roundsOf(known.view),
    hookEvents: hookEventsFor,
    run,
    repeat: clock.repeat,
  });

  const { gh } = feed;
  const poll = createTrackerPoll({
    configs,
    apiUrl: linear.url,
    gh,
    openTickets: () => ticketsNotOver(known.board.tickets.values()).map(({ ticket }) => ticket),
    log,
    logger,
    now,
    repeat: clock.repeat,
  });
  const mover = createTicketMover({
    configs: () => configs,
    open: (chosen) => openTracker(chosen, { apiUrl: linear.url, fetch, clock: { now }, gh: () => gh }),
  });
  moves = moveTicketHandler(mover, log.appendOnce);

  // The daemon requests a round whenever it could complete what a line left open: here after every one of these.
  known.onDoubt(feed.roundSoon);

  /** Its first round is not one of the clock's. */
  const startPoll = async (): Promise<void> => {
    poll.start();
    while (poll.figures().teams.some(({ lastAt, error }) => lastAt === null && error === null)) await turn();
  };
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
    clock.after(0, startPoll);
    if (webhooks) planOutages();
    const end = START + hours * HOUR_MS;
    await clock.runUntil(end);
    const made = [...calls];
    const ofTheDay = made.filter(({ line }) => !ofTickets.test(line));
    const { calls: meter } = feed.figures() as { calls: { made: number; avoided: number } };
    const ticketCalls = made.length - ofTheDay.length + kept.calls();
    world.freeze();
    if (webhooks) clock.after(0, reconnect);
    await clock.runUntil(end + CLOSING_MS);
    const truth = compareWithTruth({ repos, known, log, touched: world.touched, startedAt: START });
    const problems = [...truth.problems, ...failures];
    for (const [ticket, state] of moved) {
      const [is, logged] = [kept.stateOf(ticket), known.board.tickets.get(ticket)?.state?.name];
      if (is !== state || logged !== state)
        problems.push(`${ticket} is in ${is}, in ${logged ?? 'no state'} by the log, not in ${state}`);
    }
    if (meter.made !== made.length)
      problems.push(`the meter counts ${meter.made} calls, the code host ${made.length}`);
    return {
      options,
      /** Those of the day, without those for tickets and those at the end that only serve the comparison. */
      calls: ofTheDay,
      /** To whichever tracker. */
      ticketCalls,
      startedAt: START,
      /** What polling everything every 30 seconds would have cost, by the daemon's own meter. */
      callsOfPollingEverything: meter.made + meter.avoided,
      truth: { ...truth, problems },
    };
  } finally {
    await poll.stop();
    await feed.stop();
    await known.stop();
    await log.close();
    await relay.close();
    await codehost.close();
    await linear.close();
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
