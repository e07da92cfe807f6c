// A team of five machines, each with the real daemon, through three relays and three NATS nodes that sync every write.
// Workers of 20 runs change all the time, while machines are cut off, killed with -9, put to sleep and given other
// clocks, and relays are restarted. Afterwards all five team boards must be the same, byte for byte, and show what each
// machine's own board shows; every command from one machine to another must have been executed at most once, and
// exactly once if it is done; nobody may have been accused of anything; and nothing readable of the team may be in the
// stores, logs and metrics of the relays. Then the relay lies to one machine in five ways, and each lie must be noticed within
// 70 seconds. At last hostile requests to join are sent: none may change anything, and an honest machine joins after them.
// `npm run chaos:team` (10 minutes, 100 workers); `-- --minutes 1 --runs 5 --workers 20` is a small one; `-- --sabotage`
// shows that the checks can fail; `-- --seed 2` makes other choices.
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { natsServerVersion } from '../packages/testkit/src/nats/nats-node.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { describeCounts, scriptFolder, scriptOptions, secondsSince } from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { type Damage, scenario, type Verdict } from './scenario.ts';
import { type AskedCommand, createCommands, judgeCommands } from './team/commands.ts';
import { tryJoins } from './team/joins.ts';
import { accusations, refusals, tryLies } from './team/lies.ts';
import {
  type Verdict as BoardsVerdict,
  boardText,
  type Evidence,
  judgeBoards,
  searchSecrets,
} from './team/verdict.ts';
import { type Machine, startTeamWorld, type TeamWorld } from './team/world.ts';

const options = scriptOptions({
  minutes: 10,
  machines: 5,
  runs: 20,
  workers: 100,
  /** Changes of workers a second, of all machines. */
  rate: 8,
  seed: 1,
  /** Hostile requests to join. */
  joins: 10_000,
  sabotage: false,
});
const HOUR_MS = 3_600_000;
const COMMAND_EVERY_MS = 2_000;
const ACCUSED_EVERY_MS = 5_000;
/** After the last change and the last fault. */
const HEALED_WITHIN_MS = 3 * WAIT_MS;

const random = createRandom(options.seed);
const work = scriptFolder('chaos-team');
const natsVersion = natsServerVersion();
const world = await startTeamWorld(options, random);
const commands = createCommands(world, random);
const counts: Counts = new Map();
const accused = new Set<string>();
const ending = AbortSignal.timeout(options.minutes * 60_000);
let asked: AskedCommand[] = [];
let all: Evidence[] = [];
let folders: string[] = [];
let secrets: string[] = [];
await scenario({
  title: `${options.machines} machines, ${options.runs} runs, ${options.workers} workers, ${options.rate} changes/s for ${options.minutes} minutes, 3 relays, cluster of 3 (nats-server ${natsVersion}, every write synced), seed ${options.seed}`,
  world: { close: world.stop },
  load: () =>
    Promise.all([changes(), accusing(), repeated('commands', COMMAND_EVERY_MS, async () => commands.send())]),
  disturb: () => Promise.all(faults()),
  verdict,
  sabotage: options.sabotage && damages,
});

async function verdict(): Promise<Verdict> {
  const healing = performance.now();
  asked = await commands.verdict();
  const boards = await healed();
  // The workers go on while the relay lies.
  all = structuredClone(boards.all);
  const { things, lost, outdated, left, differentBoards, problems } = boards.verdict;
  const texts = all.map(({ board }) => boardText(board));
  const hashes = texts.map((text) => createHash('sha256').update(text).digest('hex').slice(0, 16));
  const wrongCommands = judgeCommands(asked);
  folders = await storesAndLogs(world);
  secrets = [world.teamName, ...commands.notes(), ...world.machines.flatMap((machine) => machine.secrets())];
  const { forms, hits } = searchSecrets(folders, secrets, work);
  // At once: what follows takes minutes.
  for (const figure of [
    describeCounts(counts),
    `healed after ${secondsSince(healing)} s: ${all.length} team boards of ${texts[0]?.length} bytes: ${hashes.join(' ')}`,
    `${things} things on the machines' own boards; on the team boards lost ${lost}, outdated ${outdated}, left over ${left}; different boards ${differentBoards}`,
    `${asked.length} commands: ${describeCounts(countsOf(asked.map(({ state }) => state)))}; lost, executed twice, or done and not executed: ${wrongCommands.length}`,
    `false accusations by ${world.machines.length} machines: ${accused.size}`,
    `privacy: ${secrets.length} names, titles, branches, repositories and paths in ${forms} forms, searched in the stores of 3 nodes, the logs and metrics of 3 relays: ${hits.length} hits`,
  ])
    console.log(figure);
  const late: string[] = [];
  await tryLies(world, ({ name, seconds }) => {
    console.log(`${name}: ${seconds === null ? 'not in time' : `after ${seconds.toFixed(1)} s`}`);
    if (seconds === null) late.push(`${name}: not in time`);
  });
  const joins = await tryJoins(world, options.joins, random);
  const figures: string[] = [];
  if (options.joins > 0)
    figures.push(
      `${joins.sent} hostile requests to join: ${joins.refusedByRelay} refused by the relay, ${joins.stored} stored by it, of which the administrator has refused ${joins.refusedByAdmin}; an honest machine was admitted after ${joins.seconds.toFixed(1)} s: problems ${joins.problems.length}`,
    );
  return {
    figures,
    problems: [...problems, ...wrongCommands, ...accused, ...hits, ...late, ...joins.problems],
  };
}

/** What machines report of each other while the relays are honest. */
async function accusing(): Promise<void> {
  while (!ending.aborted) {
    for (const machine of world.machines)
      for (const text of [...(await accusations(machine)), ...(await refusals(machine))])
        accused.add(`${machine.name}: ${text}`);
    await sleep(ACCUSED_EVERY_MS);
  }
}

async function changes(): Promise<void> {
  const { machines } = world;
  const change = (machine: Machine): void => {
    machine.change(random.pick(machine.workers));
    count(counts, 'changes');
  };
  for (const machine of machines) for (const worker of machine.workers) machine.change(worker);
  while (!ending.aborted) {
    change(random.pick(machines));
    await sleep(1000 / options.rate);
  }
  // The last ones come while faults are being repaired.
  for (const machine of machines) change(machine);
}

type Counts = Map<string, number>;

function count(of: Counts, name: string): void {
  of.set(name, (of.get(name) ?? 0) + 1);
}

function countsOf(names: readonly string[]): Counts {
  const of: Counts = new Map();
  for (const name of names) count(of, name);
  return of;
}

async function repeated(name: string, everyMs: number, act: () => Promise<void>): Promise<void> {
  while (!ending.aborted) {
    await sleep(everyMs * (0.5 + random.next()), undefined, { signal: ending }).catch(() => undefined);
    if (ending.aborted) return;
    await act();
    count(counts, name);
  }
}

/** Each kind in its own loop; a machine has one fault at a time, except for its clock. */
function faults(): Promise<void>[] {
  const { machines, relays } = world;
  const busy = new Set<Machine>();
  const pause = (least: number, most: number): Promise<unknown> => sleep(least + random.below(most - least));

  const ofMachine = (fault: (machine: Machine) => Promise<void>) => async (): Promise<void> => {
    const free = machines.filter((machine) => !busy.has(machine));
    if (free.length === 0) return;
    const machine = random.pick(free);
    busy.add(machine);
    await fault(machine);
    busy.delete(machine);
  };

  for (const [index, machine] of machines.entries()) machine.setClock((index - 2) * HOUR_MS);
  return [
    repeated(
      'cut off',
      9_000,
      ofMachine(async ({ way }) => {
        way.close();
        await pause(500, 20_000);
        way.restore();
      }),
    ),
    repeated(
      'half-open',
      15_000,
      ofMachine(async ({ way }) => {
        way.freeze();
        await pause(4_000, 15_000);
        way.restore();
      }),
    ),
    repeated(
      'kill -9',
      12_000,
      ofMachine(async (machine) => {
        await machine.kill();
        await pause(0, 8_000);
        await machine.start();
      }),
    ),
    repeated(
      'asleep',
      15_000,
      ofMachine(async (machine) => {
        machine.sleep();
        await pause(1_000, 25_000);
        machine.wake();
      }),
    ),
    repeated('clocks set', 20_000, async () =>
      random.pick(machines).setClock((random.below(machines.length) - 2) * HOUR_MS),
    ),
    repeated('relays restarted', 20_000, async () => {
      const relay = random.pick(relays);
      if (random.chance(0.5)) await relay.kill();
      else await relay.stop();
      await pause(0, 3_000);
      await relay.start();
    }),
  ];
}

/** The first verdict without a problem, or the last one. */
async function healed(): Promise<{ verdict: BoardsVerdict; all: Evidence[] }> {
  for (const deadline = performance.now() + HEALED_WITHIN_MS; ; await sleep(500)) {
    const found = await Promise.all(
      world.machines.map(async ({ name, workers, board, status }) => ({
        name,
        workers,
        board: await board(),
        status: await status(),
      })),
    );
    const boards = judgeBoards(found);
    if (boards.problems.length === 0 || performance.now() > deadline) return { verdict: boards, all: found };
  }
}

/** Where nothing of the team may be readable. */
async function storesAndLogs({ cluster, relays, relayFolder }: TeamWorld): Promise<string[]> {
  for (const relay of relays) {
    const metrics = await fetch(`${relay.process().url}/metrics`);
    if (!metrics.ok) throw new Error(`the metrics of ${relay.name}: ${metrics.status}`);
    writeFileSync(join(relayFolder, `${relay.name}-metrics`), await metrics.text());
  }
  return [relayFolder, ...cluster.nodes.map(({ folder }) => folder)];
}

function* damages(): Generator<Damage> {
  type Row = Evidence['board']['machines'][number];
  const damaged = (damage: (row: Row) => unknown): string[] => {
    const copy = structuredClone(all);
    for (const row of copy[0]?.board.machines ?? []) if (!row.self) damage(row);
    return judgeBoards(copy).problems;
  };
  yield ['a worker is missing', damaged(({ workers }) => workers.pop()), / has lost /];
  const older = ({ workers: [worker] }: Row): void => {
    if (worker !== undefined) worker.status = worker.status === 'done' ? 'failed' : 'done';
  };
  yield ['a worker has an old status', damaged(older), / has an old value of /];
  const leave = ({ runs }: Row): void => {
    for (const run of runs.slice(0, 1)) runs.push({ ...run, key: 'left' });
  };
  yield ['a run was left', damaged(leave), / still has /];
  const wrong: Record<string, AskedCommand> = {
    'a command is executed twice': { state: 'done', times: 2 },
    'a command is done and was not executed': { state: 'done', times: 0 },
    'a command is lost': { state: 'lost', times: 0 },
    'a command never ends': { state: 'open', times: 1 },
  };
  for (const [what, command] of Object.entries(wrong))
    yield [what, judgeCommands([...asked, command]), new RegExp(`is ${command.state} and was`)];
  const [folder = ''] = folders;
  const copy = join(work, 'stores');
  cpSync(folder, copy, { recursive: true });
  const secret = secrets.at(-1) ?? '';
  const written: Record<string, string> = {
    'as it is': secret,
    'in base64': Buffer.from(`ab${secret}cd`).toString('base64'),
    'in an address': encodeURIComponent(secret),
  };
  for (const [what, text] of Object.entries(written)) {
    const file = join(copy, 'relays/relay-1.log');
    appendFileSync(file, `${text}\n`);
    yield [`a name in a log ${what}`, searchSecrets([copy], secrets, work).hits, /relay-1\.log/];
    cpSync(join(folder, 'relays/relay-1.log'), file);
  }
}
