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
import {
  describeCounts,
  describeMachine,
  failUnless,
  judgeSabotage,
  printProblems,
  scriptFolder,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { type AskedCommand, createCommands, judgeCommands } from './team/commands.ts';
import { tryJoins } from './team/joins.ts';
import { accusations, type LieResult, refusals, tryLies } from './team/lies.ts';
import { boardText, type Evidence, judgeBoards, searchSecrets, type Verdict } from './team/verdict.ts';
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
const nats = natsServerVersion();
if (!nats.ok) throw new Error(nats.problem);
console.log(describeMachine());
console.log(
  `${options.machines} machines, ${options.runs} runs, ${options.workers} workers, ${options.rate} changes/s for ${options.minutes} minutes, 3 relays, cluster of 3 (nats-server ${nats.version}, every write synced), seed ${options.seed}`,
);
const started = performance.now();
const world = await startTeamWorld(options, random);
try {
  console.log(`the team is complete after ${secondsSince(started)} s`);
  const ending = AbortSignal.timeout(options.minutes * 60_000);
  const counts = new Map<string, number>();
  const accused = new Set<string>();
  const commands = createCommands(world, random);
  await Promise.all([
    changes(world, counts, ending),
    accusing(world, accused, ending),
    repeated('commands', COMMAND_EVERY_MS, counts, ending, async () => commands.send()),
    ...faults(world, counts, ending),
  ]);
  console.log(describeCounts(counts));
  const healing = performance.now();
  const asked = await commands.verdict();
  const { verdict, all } = await healed(world);
  report(verdict, all, `healed after ${secondsSince(healing)} s`);
  reportCommands(asked);
  console.log(`false accusations by ${world.machines.length} machines: ${accused.size}`);
  printProblems([...accused]);
  failUnless(accused.size === 0);
  const folders = await storesAndLogs(world);
  const secrets = [
    world.teamName,
    ...commands.notes(),
    ...world.machines.flatMap((machine) => machine.secrets()),
  ];
  const { forms, hits } = searchSecrets(folders, secrets, work);
  console.log(
    `privacy: ${secrets.length} names, titles, branches, repositories and paths in ${forms} forms, searched in the stores of 3 nodes, the logs and metrics of 3 relays: ${hits.length} hits`,
  );
  printProblems(hits);
  failUnless(hits.length === 0);
  await tryLies(world, reportLie);
  const joins = await tryJoins(world, options.joins, random);
  if (options.joins > 0)
    console.log(
      `${joins.sent} hostile requests to join: ${joins.refusedByRelay} refused by the relay, ${joins.stored} stored by it, of which the administrator has refused ${joins.refusedByAdmin}; an honest machine was admitted after ${joins.seconds.toFixed(1)} s: problems ${joins.problems.length}`,
    );
  printProblems(joins.problems);
  failUnless(joins.problems.length === 0);
  if (options.sabotage) tryTheChecks(all, asked, folders, secrets);
} finally {
  await world.stop();
}

/** What machines report of each other while the relays are honest. */
async function accusing({ machines }: TeamWorld, accused: Set<string>, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    for (const machine of machines)
      for (const text of [...(await accusations(machine)), ...(await refusals(machine))])
        accused.add(`${machine.name}: ${text}`);
    await sleep(ACCUSED_EVERY_MS);
  }
}

function reportLie({ name, seconds }: LieResult): void {
  console.log(`${name}: ${seconds === null ? 'not in time' : `after ${seconds.toFixed(1)} s`}`);
  failUnless(seconds !== null);
}

async function changes({ machines }: TeamWorld, counts: Counts, ending: AbortSignal): Promise<void> {
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

function count(counts: Counts, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

async function repeated(
  name: string,
  everyMs: number,
  counts: Counts,
  ending: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  while (!ending.aborted) {
    await sleep(everyMs * (0.5 + random.next()), undefined, { signal: ending }).catch(() => undefined);
    if (ending.aborted) return;
    await act();
    count(counts, name);
  }
}

/** Each kind in its own loop; a machine has one fault at a time, except for its clock. */
function faults({ machines, relays }: TeamWorld, counts: Counts, ending: AbortSignal): Promise<void>[] {
  const busy = new Set<Machine>();
  const pause = (least: number, most: number): Promise<unknown> => sleep(least + random.below(most - least));

  const often = (name: string, everyMs: number, fault: () => Promise<void>): Promise<void> =>
    repeated(name, everyMs, counts, ending, fault);

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
    often(
      'cut off',
      9_000,
      ofMachine(async ({ way }) => {
        way.close();
        await pause(500, 20_000);
        way.restore();
      }),
    ),
    often(
      'half-open',
      15_000,
      ofMachine(async ({ way }) => {
        way.freeze();
        await pause(4_000, 15_000);
        way.restore();
      }),
    ),
    often(
      'kill -9',
      12_000,
      ofMachine(async (machine) => {
        await machine.kill();
        await pause(0, 8_000);
        await machine.start();
      }),
    ),
    often(
      'asleep',
      15_000,
      ofMachine(async (machine) => {
        machine.sleep();
        await pause(1_000, 25_000);
        machine.wake();
      }),
    ),
    often('clocks set', 20_000, async () =>
      random.pick(machines).setClock((random.below(machines.length) - 2) * HOUR_MS),
    ),
    often('relays restarted', 20_000, async () => {
      const relay = random.pick(relays);
      if (random.chance(0.5)) await relay.kill();
      else await relay.stop();
      await pause(0, 3_000);
      await relay.start();
    }),
  ];
}

/** The first verdict without a problem, or the last one. */
async function healed({ machines }: TeamWorld): Promise<{ verdict: Verdict; all: Evidence[] }> {
  for (const deadline = performance.now() + HEALED_WITHIN_MS; ; await sleep(500)) {
    const all = await Promise.all(
      machines.map(async ({ name, workers, board, status }) => ({
        name,
        workers,
        board: await board(),
        status: await status(),
      })),
    );
    const verdict = judgeBoards(all);
    if (verdict.problems.length === 0 || performance.now() > deadline) return { verdict, all };
  }
}

function report(verdict: Verdict, all: readonly Evidence[], when: string): void {
  const { things, lost, outdated, left, differentBoards, problems } = verdict;
  const texts = all.map(({ board }) => boardText(board));
  const hashes = texts.map((text) => createHash('sha256').update(text).digest('hex').slice(0, 16));
  console.log(`${when}: ${all.length} team boards of ${texts[0]?.length} bytes: ${hashes.join(' ')}`);
  console.log(
    `${things} things on the machines' own boards; on the team boards lost ${lost}, outdated ${outdated}, left over ${left}; different boards ${differentBoards}`,
  );
  printProblems(problems);
  failUnless(problems.length === 0);
}

function reportCommands(asked: readonly AskedCommand[]): void {
  const states: Counts = new Map();
  for (const { state } of asked) count(states, state);
  const problems = judgeCommands(asked);
  console.log(
    `${asked.length} commands: ${describeCounts(states)}; lost, executed twice, or done and not executed: ${problems.length}`,
  );
  printProblems(problems);
  failUnless(problems.length === 0);
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

function tryTheChecks(
  all: readonly Evidence[],
  asked: readonly AskedCommand[],
  folders: readonly string[],
  secrets: readonly string[],
): void {
  const damages: Record<string, (row: Evidence['board']['machines'][number]) => void> = {
    'a worker is missing': (row) => void row.workers.pop(),
    'a worker has an old status': (row) => {
      const [worker] = row.workers;
      if (worker !== undefined) worker.status = worker.status === 'done' ? 'failed' : 'done';
    },
    'a run was left': (row) => {
      const [run] = row.runs;
      if (run !== undefined) row.runs.push({ ...run, key: 'left' });
    },
  };
  for (const [what, damage] of Object.entries(damages)) {
    const copy = structuredClone(all) as Evidence[];
    const row = copy[0]?.board.machines.find(({ self }) => !self);
    if (row !== undefined) damage(row);
    const { problems } = judgeBoards(copy);
    judgeSabotage(what, problems[0] ?? 'nothing', problems.length > 0);
  }
  const wrong: Record<string, AskedCommand> = {
    'a command is executed twice': { state: 'done', times: 2 },
    'a command is done and was not executed': { state: 'done', times: 0 },
    'a command is lost': { state: 'lost', times: 0 },
    'a command never ends': { state: 'open', times: 1 },
  };
  for (const [what, command] of Object.entries(wrong)) {
    const problems = judgeCommands([...asked, command]);
    judgeSabotage(what, problems[0] ?? 'nothing', problems.length > 0);
  }
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
    const { hits } = searchSecrets([copy], secrets, work);
    judgeSabotage(`a name in a log ${what}`, `${hits.length} hits`, hits.length > 0);
    cpSync(join(folder, 'relays/relay-1.log'), file);
  }
}
