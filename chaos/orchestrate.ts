// A run of many tickets, end to end: a real daemon, real git with a real remote, the real client program, and a
// scripted agent. Some agents crash, hang, report false test results or open two pull requests, and deploys fail; the
// daemon is killed with -9 in between. At the end every ticket must be in its expected state, never more agents ran
// than allowed, and nothing is left over.
// `npm run chaos:orchestrate` (40 tickets, 4 waves, 5 kills); `-- --tickets 8 --waves 2 --kills 1` is quick;
// `-- --sabotage` shows that the check can fail; `-- --seed 2` makes other choices; `-- --tracker github` has its tickets
// at the code host.
import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { describeCounts, endWithScript, scriptOptions } from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import type { AgentScript } from './orchestrate-agent.ts';
import { castOf, type Player, planOf } from './orchestrate-cast.ts';
import { startReviewer } from './orchestrate-reviewer.ts';
import { agentProcesses, differences, endAgents, launchesOf, watchAgents } from './orchestrate-verdict.ts';
import { MOST_AGENTS, openOrchestrateWorld, RUN } from './orchestrate-world.ts';
import { type Damage, scenario, unless, type Verdict } from './scenario.ts';
import { resultsByKind } from './world.ts';

const options = scriptOptions({
  tickets: 40,
  waves: 4,
  kills: 5,
  /** The longest that an agent works. */
  'work-ms': 1_500,
  'limit-sec': (15 * WAIT_MS) / 1000,
  seed: 1,
  /** Keeps the output of the daemons in `.chaos-orchestrate.log`. */
  keep: false,
  sabotage: false,
  /** Where the tickets are: `linear` or `github`. */
  tracker: 'linear',
});
const LOOK_MS = 300;

const random = createRandom(options.seed);
const world = await openOrchestrateWorld(options.tracker);
const { daemon } = world;
const reviewer = await startReviewer(world, random);
const watch = watchAgents(world.root);
const cast = castOf(
  Array.from({ length: options.tickets }, (_, index) =>
    world.tickets.newTicket('ABC', `Change ${index + 1}`),
  ),
  options.waves,
  random,
);
const problems: string[] = [];
/** `amid`: while agents ran. */
const kills = { made: 0, amid: 0 };
/** The run, or the time for it. */
const over = new AbortController();
const late = setTimeout(() => over.abort(), options['limit-sec'] * 1_000);
const found = (players: readonly Player[] = cast): Promise<string[]> =>
  differences(world, players, watch.found);

// However this script ends, it kills the agents: they outlive a daemon.
process.on('exit', () => endAgents(world.root));
for (const player of cast) prepare(player);
const plan = join(world.root, 'plan.json');
writeFileSync(plan, JSON.stringify(planOf(cast, random)));
daemon.start();
await daemon.ready();
await scenario({
  title: `${options.tickets} tickets in ${options.waves} waves, ${MOST_AGENTS} at a time, ${options.kills} kills, tracker ${options.tracker}, seed ${options.seed}`,
  world: {
    async close() {
      clearTimeout(late);
      watch.stop();
      await reviewer.stop();
      if (options.keep) copyFileSync(world.home.output, join(process.cwd(), '.chaos-orchestrate.log'));
      endAgents(world.root);
      await world.close();
    },
  },
  async load() {
    await world.mustRun(world.project, 'orchestrate', 'start', '--file', plan, '--name', RUN);
    await Promise.all([untilOver(), letBegin(), actAsPerson()]);
  },
  disturb: killAndRestart,
  verdict,
  sabotage: options.sabotage && damages,
  stop: daemon.stop,
});

function prepare(player: Player): void {
  const { ticket, role } = player;
  reviewer.cast.set(ticket, player);
  const workMs = 200 + random.below(options['work-ms']);
  const script: AgentScript = { deeds: [...role.deeds], codehost: reviewer.url, workMs };
  writeFileSync(join(world.stage, `${ticket}.json`), JSON.stringify(script));
}

async function untilOver(): Promise<void> {
  const isOver = await daemon.waitFor(
    ({ runs }) =>
      over.signal.aborted ||
      runs.some(({ orchestrator, state }) => orchestrator === RUN && state === 'completed'),
    options['limit-sec'] * 1_000,
  );
  if (!isOver || over.signal.aborted) problems.push(`the run has not ended after ${options['limit-sec']} s`);
  over.abort();
}

/** The first agents wait until the allowed number is running: this shows whether one more is started. */
async function letBegin(): Promise<void> {
  const most = Math.min(MOST_AGENTS, cast.filter(({ wave }) => wave === 1).length);
  await until(() => watch.found.most >= most || over.signal.aborted).catch(() => undefined);
  writeFileSync(join(world.stage, 'begin'), '');
}

/** Reads what needs a person, and does once what the role requires. */
async function actAsPerson(): Promise<void> {
  const waiting = new Map(cast.filter(({ role }) => role.person !== null).map((one) => [one.ticket, one]));
  for (; !over.signal.aborted; await sleep(LOOK_MS)) {
    const board = await daemon.board();
    for (const { ticket, reason } of board?.attention ?? []) {
      const player = waiting.get(ticket ?? '');
      const status = board?.workers.find((worker) => worker.ticket === ticket)?.status;
      if (player === undefined) continue;
      const { person } = player.role;
      const isAsked =
        person === 'cancel'
          ? reason === 'worker-dead' && status === 'failed'
          : reason === 'worker-stalled' && status === 'stalled';
      if (!isAsked || person === null) continue;
      const { code, printed } = await world.svc(world.project, 'orchestrate', person, RUN, player.ticket);
      if (code === 0) waiting.delete(player.ticket);
      else console.log(`  svc orchestrate ${person} ${player.ticket}: ${printed}`);
    }
  }
  for (const { ticket, role } of waiting.values())
    problems.push(`${ticket} (${role.name}): no person was asked`);
}

/** Spread over the launches of the run, and between two of them over the lines of the log. */
async function killAndRestart(): Promise<void> {
  const expected = cast.reduce((sum, { role }) => sum + role.ends.launches, 0);
  const launched = (): number => cast.reduce((sum, { ticket }) => sum + launchesOf(world, ticket).length, 0);
  const isOver = (): boolean => over.signal.aborted;
  const { eventsDir } = world.home;
  const logBytes = (): number =>
    readdirSync(eventsDir).reduce((sum, name) => sum + statSync(join(eventsDir, name)).size, 0);
  for (let count = 0; count < options.kills; count += 1) {
    const after = ((count + random.next()) * expected * 0.9) / options.kills;
    while (launched() < after && !isOver()) await sleep(10);
    const bytes = logBytes() + random.below(5_000);
    // At the latest after a long time without a change.
    await until(() => logBytes() >= bytes || isOver()).catch(() => undefined);
    await until(() => agentProcesses(world.root).length > 0 || isOver()).catch(() => undefined);
    if (isOver()) return;
    await daemon.ready();
    if (agentProcesses(world.root).length > 0) kills.amid += 1;
    await daemon.kill();
    kills.made += 1;
    await sleep(random.below(1_000));
    daemon.start();
  }
  await daemon.ready();
}

async function verdict(seconds: number): Promise<Verdict> {
  problems.push(...(await world.settled(() => found())));
  const audit = await auditLog(world.home.eventsDir);
  problems.push(...reviewer.problems, ...audit.problems);
  const { samples, most, longestGapMs } = watch.found;
  const launches = cast.reduce((sum, { ticket }) => sum + launchesOf(world, ticket).length, 0);
  const players = cast.map(({ ticket, role: { name, ends } }) => ({
    ticket,
    kind: name,
    end: `${ends.status}, verification ${ends.verification ?? 'none'}`,
  }));
  const isKilled = kills.made === options.kills && kills.amid > 0;
  return {
    figures: [
      ...resultsByKind(players, problems),
      `${seconds.toFixed(1)} s, ${audit.lines} lines, ${kills.made} kills, ${kills.amid} of them while agents ran; ${launches} launches, at most ${most} at once in ${samples} samples (longest gap ${Math.round(longestGapMs)} ms)`,
      `pull requests and deliveries: ${describeCounts(Object.entries(reviewer.done))}; code host called ${world.codehost.calls().length} times, tracker ${world.tickets.calls()} times`,
      `tickets ${cast.length} differences ${problems.length}`,
    ],
    problems: [
      ...problems,
      ...unless(options.kills === 0 || isKilled, `not ${options.kills} kills, or none while agents ran`),
    ],
  };
}

/** Another ending, a wave too early, one agent too many, and leftovers. */
async function* damages(): AsyncGenerator<Damage> {
  const swapped = cast.map((player) => ({ ...player, wave: options.waves + 1 - player.wave }));
  yield ['waves in another order', await found(swapped), /was started before wave/];
  const first = cast.find(({ role }) => role.ends.status === 'done');
  if (first === undefined) return;
  const { role } = first;
  const otherwise: Player = { ...first, role: { ...role, ends: { ...role.ends, status: 'canceled' } } };
  yield [
    'another ending',
    await found(cast.map((player) => (player === first ? otherwise : player))),
    /the board says done, not canceled|Backlog/,
  ];
  const left = join(world.root, 'left');
  world.git(world.project, 'worktree', 'add', '--quiet', '--detach', left);
  yield ['a worktree left over', await found(), /a worktree is left/];
  world.git(world.project, 'worktree', 'remove', left);
  const env = { HOME: world.root, SVC_ORCHESTRATOR: RUN, SVC_TICKET: first.ticket };
  const sleepers = Array.from({ length: MOST_AGENTS + 1 }, () =>
    endWithScript(spawn('/bin/sleep', ['60'], { env, stdio: 'ignore', detached: true })),
  );
  await until(() => watch.found.most > MOST_AGENTS && watch.found.twice.has(first.ticket));
  yield ['a process left over', await found(), /process \d+ of/];
  for (const child of sleepers) child.kill('SIGKILL');
  yield ['one agent too many', await found(), /4 agents ran at once/];
  yield ['two agents for one ticket', await found(), /two agents worked on it/];
}
