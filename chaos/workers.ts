// Thirty workers take every path through the tables of states, with a real daemon, the real client program, real git,
// and fake clouds; the daemon is killed with -9 in between and restarted, and some deliveries of the code host are
// lost. At the end states, signal files, attention and tickets must match the hand-written ones.
// `npm run chaos:workers` (30 workers, 10 kills); `-- --sabotage` shows that the check can fail; `-- --seed 2`
// makes other choices; `-- --tracker github` has its tickets at the code host, by labels and by a project's status.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignalFile } from '@svc/contract/signal-file';
import type { BoardView } from '../packages/monitor/src/features/board/api.ts';
import { createStartKiller } from '../packages/testkit/src/daemon/server-process.ts';
import { auditLog, type LogAudit } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { logLines, scriptOptions } from '../packages/testkit/src/script.ts';
import { type Damage, scenario, unless, type Verdict } from './scenario.ts';
import { type Actor, createActor, type Stage, Stuck } from './workers-actor.ts';
import { type Ending, type Path, paths, phaseRows } from './workers-paths.ts';
import { openWorkersWorld, RUN, repos, type TeamKey, teams } from './workers-world.ts';
import { resultsByKind, wrongFacts } from './world.ts';

const options = scriptOptions({
  workers: 30,
  kills: 10,
  /** The longest pause of a worker between two steps. */
  'pace-ms': 800,
  /** After this time without a step, workers are waiting for lost deliveries, and a planned kill happens. */
  'rest-ms': 3_000,
  seed: 1,
  sabotage: false,
  /** Where the tickets are: `linear` or `github`. */
  tracker: 'linear',
});
/** The minimum number of steps of a worker. */
const STEPS_EACH = 5;

const random = createRandom(options.seed);
const world = await openWorkersWorld(random, options.tracker);
const { daemon } = world;
const killWhileStarting = createStartKiller(world.home, random);
/** `amid`: while workers were active. */
const killed = { left: options.kills, running: 0, starting: 0, amid: 0 };
const worked = { underWay: 0, finished: 0 };
const stage: Stage = {
  world,
  paceMs: options['pace-ms'],
  mayLose: () => killed.left > 0,
  done: { steps: 0, relay: 0, direct: 0, lost: 0, twice: 0 },
};
type Cast = { ticket: string; team: TeamKey; path: Path };
const problems: string[] = [];
const cast: Cast[] = [];
const tickets: { ticket: string; ends: string; about: string }[] = [];
const actors: Actor[] = [];

daemon.start();
await daemon.ready();
await scenario({
  title: `${options.workers} workers on ${Math.min(paths.length, options.workers)} of ${paths.length} paths, ${phaseRows.length} tickets, ${options.kills} kills, tracker ${options.tracker}, seed ${options.seed}`,
  world: {
    async close() {
      for (const actor of actors) actor.end();
      await world.close();
    },
  },
  load: () => Promise.all([playAll(), setPhases()]),
  disturb: killAndRestart,
  verdict,
  sabotage: options.sabotage && damages,
  stop: daemon.stop,
});

async function verdict(seconds: number): Promise<Verdict> {
  problems.push(
    ...(await world.settled(async () => [
      ...(await differences(cast)),
      ...unheard(await auditLog(world.home.eventsDir)),
    ])),
  );
  const { deliveries, ...audit } = await auditLog(world.home.eventsDir);
  problems.push(...audit.problems, ...doubledIn(deliveries));
  const { steps, relay, direct, lost, twice } = stage.done;
  const { running, starting, amid } = killed;
  const cameBy = (via: string) =>
    [...deliveries.values()].filter(([line]) => line?.event.startsWith('codehost.') && line.via === via)
      .length;
  const { kills } = options;
  return {
    figures: [
      ...resultsByKind(
        cast.map(({ ticket, path: { name, ends } }) => ({ ticket, kind: name, end: ends.status })),
        problems,
      ),
      `${seconds.toFixed(1)} s, ${steps} steps; ${running + starting} kills, ${starting} of them while it started; sent ${relay} by the relay, ${direct} directly, ${lost} lost on purpose, ${twice} twice; code host called ${world.codehost.calls().length} times, tracker ${world.tickets.calls()} times`,
      `code host: ${cameBy('live')} lines live, ${cameBy('replay')} by replay, ${cameBy('poll')} by polling`,
      `workers ${cast.length} tickets ${tickets.length} differences ${problems.length}`,
    ],
    problems: [
      ...problems,
      ...unless(
        running + starting === kills && amid === kills,
        `not ${kills} kills while workers were active`,
      ),
    ],
  };
}

async function playAll(): Promise<void> {
  const plays = Array.from({ length: options.workers }, async (_, index) => {
    const path = paths[index % paths.length];
    if (path === undefined) return;
    const team = index % 3 === 2 ? 'XYZ' : 'ABC';
    const ticket = world.tickets.newTicket(team, path.name);
    const actor = createActor(stage, { ticket, repo: path.repo, number: 100 + index });
    cast.push({ ticket, team, path });
    actors.push(actor);
    await restALittle();
    worked.underWay += 1;
    await path.play(actor).catch((error: unknown) => {
      if (!(error instanceof Stuck)) throw error;
      problems.push(`${ticket} (${path.name}): ${error.message}`);
    });
    worked.underWay -= 1;
    worked.finished += 1;
  });
  await Promise.all(plays);
}

/** So that at every kill some have just started and others are in the middle. */
async function restALittle(): Promise<void> {
  await sleep(random.below(options.kills * 2_500));
}

async function setPhases(): Promise<void> {
  const commands = phaseRows.map(async ({ team, phases, ends, outcome }) => {
    const about = `svc ticket phase ${phases.join(', ')}`;
    const ticket = world.tickets.newTicket(team, about);
    tickets.push({ ticket, ends, about });
    const actor = createActor(stage, { ticket, repo: '', number: 0 });
    actors.push(actor);
    await restALittle();
    const answers: string[] = [];
    for (const phase of phases) answers.push(...(await actor.isIn(phase)));
    // One whose answer was lost has been executed, one in the spool will be; others may come first.
    const isPlain = answers.length === phases.length && !answers.includes('pending');
    if (isPlain && answers.at(-1) !== outcome)
      problems.push(`${ticket} (${about}): it is ${answers.join(', ')}, not ${outcome}`);
  });
  await Promise.all(commands);
}

/** After a share of the steps, or when workers wait for lost deliveries; some during the daemon's start. */
async function killAndRestart(): Promise<void> {
  const share = (options.workers * STEPS_EACH) / options.kills;
  for (let count = 0; count < options.kills; count += 1) {
    if (count % 5 === 2) {
      await daemon.kill();
      await killWhileStarting(() => daemon.start());
      killed.starting += 1;
    } else {
      await daemon.ready();
      await untilSteps((count + random.next()) * share);
      await sleep(random.below(1_000));
      killed.running += 1;
    }
    if (worked.underWay > 0) killed.amid += 1;
    killed.left -= 1;
    await daemon.kill();
    daemon.start();
  }
  await daemon.ready();
}

async function untilSteps(wanted: number): Promise<void> {
  let steps = -1;
  for (let since = 0; worked.finished < options.workers; await sleep(5)) {
    if (stage.done.steps !== steps) since = performance.now();
    steps = stage.done.steps;
    const isEnough = steps >= wanted || performance.now() - since > options['rest-ms'];
    if (isEnough && worked.underWay > 0) return;
  }
}

/** Lost deliveries are found when the daemon is restarted. */
function unheard({ deliveries }: LogAudit): string[] {
  const sent = Object.values(repos).flatMap((repo) => world.codehost.cloud.repoOf(repo).deliveries);
  return [...new Set(sent.map(({ guid }) => guid))]
    .filter((guid) => !deliveries.has(guid))
    .map((guid) => `delivery ${guid} is not in the log`);
}

function doubledIn(deliveries: LogAudit['deliveries']): string[] {
  return [...deliveries].filter(([, lines]) => lines.length > 1).map(([id]) => `delivery ${id} is doubled`);
}

/** Another expected ending, a changed file, a removed effect. */
async function* damages(): AsyncGenerator<Damage> {
  const [first] = cast;
  if (first === undefined) return;
  const otherwise = { ...first, path: { ...first.path, ends: { ...first.path.ends, status: 'stalled' } } };
  const others = [otherwise as Cast, ...cast.slice(1)];
  yield ['another ending', await differences(others), /the board says done, not stalled/];

  const file = world.signalFileOf(first.ticket);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"done"', '"merging"'));
  yield ['a changed file', await differences(cast), /the file says merging, not done/];
  writeFileSync(file, text);

  const { path } = first;
  const ticket = world.tickets.newTicket('ABC', 'a removed effect');
  const actor = createActor(stage, { ticket, repo: path.repo, number: 99 });
  actors.push(actor);
  world.tickets.refuse();
  await path.play(actor);
  await daemon.kill();
  const database = new DatabaseSync(join(world.home.dataDir, 'svc.db'));
  database.exec("DELETE FROM outbox_effect WHERE kind = 'move-ticket' AND state = 'pending'");
  database.close();
  world.tickets.restore();
  daemon.start();
  await daemon.ready();
  await daemon.settle();
  const found = await differences([...cast, { ticket, team: 'ABC', path }]);
  yield ['a removed effect', found, /the ticket is in Backlog, not Done/];
}

// Compares the final state with the expected one: the board, the signal files, the attention items, the tickets in the
// tracker, and the lines that report a success, of which each worker may have one.

/** The differences; empty if everything is as expected. */
async function differences(workers: readonly Cast[]): Promise<string[]> {
  const board = await daemon.board();
  if (board === null) return ['the daemon shows no board'];
  const successes = successesIn(world.home.eventsDir);
  return [
    ...workers.flatMap((one) => differencesOf(board, one, successes)),
    ...tickets.flatMap(({ ticket, ends, about }) => {
      const is = world.tickets.stateOf(ticket);
      return is === ends ? [] : [`${ticket} (${about}): the ticket is in ${is}, not in ${ends}`];
    }),
    ...strangersIn(board, workers),
  ];
}

function differencesOf(
  board: BoardView,
  { ticket, team, path }: Cast,
  successes: Map<string, number>,
): string[] {
  const { ends } = path;
  const worker = board.workers.find((one) => one.ticket === ticket);
  const open = board.attention.filter((item) => item.ticket === ticket).map(({ reason }) => reason);
  const file = readSignal(ticket);
  const isMoved = ends.ticket === 'done';
  return wrongFacts(`${ticket} (${path.name})`, [
    ['the board says', worker?.status, ends.status],
    ['the board says of the deploy', worker?.deploy?.result ?? null, ends.result],
    ['attempts on the board', worker?.attempts, ends.attempts],
    ['open attention', open.toSorted().join(', '), ends.attention.toSorted().join(', ')],
    ['the file says', file?.status ?? null, ends.file === undefined ? ends.status : ends.file],
    ['the ticket is in', world.tickets.stateOf(ticket), isMoved ? teams[team].done : teams[team].begin],
    ['reported successes', successes.get(ticket) ?? 0, ends.result === 'success' ? 1 : 0],
    ...(file?.status === ends.status ? factsOfDeploy(file, ends) : []),
  ]);
}

function factsOfDeploy({ deploy }: SignalFile, ends: Ending): [string, unknown, unknown][] {
  return [
    ['the file says of the deploy', deploy?.result ?? null, ends.result],
    ['attempts in the file', deploy?.attempts?.length ?? 0, ends.attempts],
  ];
}

/** Unexpected workers and attention items. */
function strangersIn(board: BoardView, workers: readonly Cast[]): string[] {
  const known = new Set(workers.map(({ ticket }) => ticket));
  const isStrange = (ticket: string | null): boolean => ticket === null || !known.has(ticket);
  return [
    ...board.workers.filter(({ ticket }) => isStrange(ticket)).map(({ key }) => `${key}: unexpected`),
    ...board.attention
      .filter(({ ticket, feed }) => feed === null && isStrange(ticket))
      .map(({ id, message }) => `${id}: ${message}`),
  ];
}

/** Null if there is none, or it cannot be read. */
function readSignal(ticket: string): SignalFile | null {
  try {
    const read = SignalFile.safeParse(JSON.parse(readFileSync(world.signalFileOf(ticket), 'utf8')));
    return read.success ? read.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function successesIn(eventsDir: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of logLines(eventsDir).filter((line) => line.includes('orchestrator.deploy.succeeded'))) {
    const { event, scope } = JSON.parse(text) as {
      event: string;
      scope: { ticket?: string; orchestrator?: string };
    };
    if (event !== 'orchestrator.deploy.succeeded' || scope.orchestrator !== RUN) continue;
    counts.set(scope.ticket ?? '', (counts.get(scope.ticket ?? '') ?? 0) + 1);
  }
  return counts;
}
