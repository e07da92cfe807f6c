// Damages the files that the daemon reads, in every way that somebody else could: bytes, types, kinds of file, permissions,
// links, pipes, sockets, names. Files of the configuration, of projects, of workers and of the spool are damaged while the
// daemon runs, many at once; files of the data root, also those of the configuration, while it is stopped, and then it is
// started; and files of the data root while it runs: the log, the database, the lock, an agent's journal and what it was sent.
// After each round everything is repaired. Checked all the time: the daemon answers within two seconds, also deliveries, and
// never ends; a start ends too, and names the file that it refuses. Each damage is shown where its owner shows it
// (files/naming.ts), and health is as before after the repair. After each kind of damage a pull request of a strict
// repository is merged: it never counts as done; and one of a lax repository, whose file is whole: it does. In every round the
// policies of all repositories are compared with those of the beginning. Workflow contexts, findings and secrets are damaged
// too, and the verbs that read them name the file.
// `npm run chaos:files`; `-- --damages 300 --seed 7` for a short run; `--sabotage` shows that each check can fail.
import { existsSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeCounts,
  describeMachine,
  failUnless,
  judgeSabotage,
  printProblems,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { createDamages, type Damage } from './files/damages.ts';
import { namedFiles, namingOf } from './files/naming.ts';
import { createFilesWorld, LAX, LIMIT_MS, MERGE_LIMIT_MS, type Project } from './files/world.ts';

const { damages, seed, atOnce, sabotage } = scriptOptions({
  damages: 10_000,
  seed: 1,
  atOnce: 100,
  sabotage: false,
});
const PROJECTS = 120;
const START_WITHIN_MS = 60_000;
const DATA_AT_ONCE = 2;
const ASK_EVERY_MS = 200;

const random = createRandom(seed);
const world = createFilesWorld(PROJECTS);
const { home, configDir, runsDir, spoolDir, globalFile, projects, laxProject, note, shown, problems } = world;
const { dataDir } = home;
const kinds = createDamages(join(home.home, 'saved'), random);
const count = {
  done: 0,
  policies: 0,
  strictMerges: 0,
  laxMerges: 0,
  restarts: 0,
  refusedStarts: 0,
  named: 0,
  live: 0,
};
/** Why nothing was shown of a damage, and how often. */
const excused = new Map<string, number>();

// Checks.

const describe = ({ file, kind }: Damage): string => `${shown(file)} (${kind})`;

/** Waits until each damage is shown. */
async function checkNamed(made: readonly Damage[], isLive: boolean): Promise<void> {
  const missing = new Map<Damage, (health: Awaited<ReturnType<typeof world.health>>) => boolean>();
  for (const damage of made) {
    const naming = namingOf(world, damage, isLive);
    if (typeof naming === 'function') missing.set(damage, naming);
    else excused.set(naming.because, (excused.get(naming.because) ?? 0) + 1);
  }
  count.named += missing.size;
  await world.waitUntil('health names every damaged file', async () => {
    const health = await world.health();
    for (const [damage, isNamed] of missing) if (isNamed(health)) missing.delete(damage);
    return [...missing.keys()].map(describe);
  });
}

async function checkAsBefore(when: string): Promise<void> {
  await world.waitUntil(`health is as before ${when}`, async () =>
    [...namedFiles(await world.health())].map((file) => shown(file)),
  );
}

let merges = 1_000;

/** A strict repository never counts as done, whatever is damaged. */
async function checkStrict({ repo }: Project, why: string): Promise<void> {
  merges += 1;
  count.strictMerges += 1;
  const status = await world.statusAfterMerge(`STR-${merges}`, repo, merges);
  if (status === 'done') note(`a merge of ${repo} is done: ${why}`);
}

/** A valid file of the project skips the verification, so nothing else makes its merges wait. */
async function checkLax(why: string): Promise<void> {
  merges += 1;
  count.laxMerges += 1;
  const status = await world.statusAfterMerge(`LAX-${merges}`, LAX, merges);
  if (status !== 'done') note(`a merge of ${LAX} waits (${status}): ${why}`);
}

/** What a healthy daemon showed at the start. */
let policiesAtFirst = new Map<string, string>();

/** No damage changes what any repository requires. */
async function checkPolicies(why: string): Promise<void> {
  count.policies += policiesAtFirst.size;
  const wrong = new Set<string>();
  await world.waitUntil(`the policies are as before: ${why}`, async () => {
    const now = await world.policies();
    return [...policiesAtFirst].flatMap(([repo, policy]) => {
      const current = now.get(repo);
      // Not even for a moment.
      if (repo !== LAX && current?.includes('"skipped"') === true && !wrong.has(repo)) {
        wrong.add(repo);
        note(`the policy of ${repo} became lax: ${why}`);
      }
      return current === policy ? [] : [`${repo}: ${current} instead of ${policy}`];
    });
  });
}

const NO_FILE = new Set([
  'folder',
  'full folder',
  'pipe',
  'socket',
  'link to itself',
  'link to a device',
  'link to a terminal',
  'link to a name too long',
]);

/** Files that only verbs read: whatever they are, the verb ends, it is no bug, and the file is named. */
async function checkVerbs(): Promise<void> {
  const { contextFile, findingsFile, secretFile } = world;
  const isThere = (kind: string): boolean => kind !== 'removed';
  await checkVerb(contextFile, ['context', 'most-recent'], isThere);
  await checkVerb(findingsFile, ['findings', 'list'], (kind) => NO_FILE.has(kind));
  await checkVerb(secretFile, ['doctor'], (kind) => NO_FILE.has(kind));
}

async function checkVerb(file: string, words: string[], isNamed: (kind: string) => boolean): Promise<void> {
  const made = kinds.damage(file, random.pick(kinds.ofFile));
  count.done += 1;
  await judgeVerb(made, words, isNamed);
  kinds.repair(made);
}

async function judgeVerb(made: Damage, words: string[], isNamed: (kind: string) => boolean): Promise<void> {
  const printed = await world.verb(laxProject.folder, ...words);
  const what = `svc ${words.join(' ')} with ${describe(made)}`;
  const end = printed.slice(-500);
  if (/bug in svc|node:internal|^\s+at /m.test(printed)) note(`${what}: ${end}`);
  if (isNamed(made.kind) && !printed.includes(made.file)) note(`${what} does not name it: ${end}`);
  // An error of the system as it comes: what was called, but not what to do.
  if (/\bE[A-Z]{3,}: [^\n]*, [a-z]+ '\//.test(printed)) note(`${what} is a raw error: ${end}`);
}

/** The conversation of an agent is shown, or its files are named. */
async function checkConversation(ticket: string): Promise<void> {
  const path = `/api/workers/${ticket}/agent?attempt=1`;
  const answer = await world.ask<{ code?: string; remedy?: string }>(path, undefined, {}, ['file-unusable']);
  if (answer.code === 'file-unusable' && answer.remedy?.includes(`${ticket}.1.sent.jsonl`) !== true)
    note(`${path} does not name the file: ${JSON.stringify(answer)}`);
}

/** Files that are read when somebody asks for them: whatever they are, there is an answer. */
async function checkLooks(): Promise<void> {
  for (const path of ['/api/retention', '/api/archive', '/api/archive/run1', '/api/team', '/api/projects'])
    await world.ask(path, undefined, {}, ['file-unusable', 'unknown-run']);
  const report = await world.ask<{ code?: string }>('/api/hooks/report', '{}', {}, [
    'wrong-hook-token',
    'file-unusable',
  ]);
  if (report.code === undefined) note(`a hook without the token was heard: ${JSON.stringify(report)}`);
}

/** What a refused start prints must name the file, and must not be a bug. */
function checkRefusal(damage: Damage, outcome: string): void {
  if (!outcome.includes(damage.file) && !outcome.includes(basename(damage.file)))
    note(`a refused start with ${describe(damage)} does not name it: ${outcome}`);
  if (/bug in svc/.test(outcome)) note(`a start with ${describe(damage)}: ${outcome}`);
}

/** Whatever it is, also a link to nothing. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const spoolSeen = { rejected: 0 };

/**
 * Each is put aside under its name, and counted: health shows how many, and the folder. They are removed then: some have
 * gigabytes, and the data root is copied before each of its damages.
 */
async function checkSpool(names: readonly string[]): Promise<void> {
  spoolSeen.rejected += names.length;
  await world.waitUntil('the spool has rejected each damaged file', async () => {
    const { spool } = await world.health();
    const missing = names.filter((name) => !isThere(join(spoolDir, 'rejected', name)));
    return spool.rejected < spoolSeen.rejected || spool.why === undefined
      ? [...missing, `${spool.rejected} of ${spoolSeen.rejected} are counted`]
      : missing;
  });
  for (const name of names) rmSync(join(spoolDir, 'rejected', name), { recursive: true, force: true });
}

// Rounds.

async function start(): Promise<void> {
  spoolSeen.rejected = 0;
  await world.start(START_WITHIN_MS);
}

/** Projects, workers, spool and machine files, all while the daemon runs. */
async function liveRound(number: number): Promise<void> {
  const chosen = random.shuffled(projects).slice(0, Math.min(atOnce, damages - count.done));
  const made = chosen.map(({ folder }) =>
    kinds.damage(world.projectFile(folder), random.pick(kinds.all), folder),
  );
  for (const index of [0, 1, 2, 3])
    made.push(kinds.damage(world.workerFile(`OLD-${index}`), random.pick(kinds.ofFile)));
  const spooled = ['a', 'b'].map((name) => {
    // Damaged first, because the daemon takes it at once.
    const file = join(home.home, `2026-${number}-${name}.json`);
    writeFileSync(file, '{}');
    kinds.damage(file, random.pick(kinds.present));
    renameSync(file, join(spoolDir, basename(file)));
    return basename(file);
  });
  const secrets = join(configDir, `config-p${10 * random.below(PROJECTS / 10)}.json`);
  made.push(kinds.damage(secrets, random.pick(kinds.ofFile)));
  // Without the list, no project is served: that is a decision, not a damage.
  if (number % 5 === 0) made.push(kinds.damage(globalFile, random.pick(kinds.present)));
  count.done += made.length + spooled.length;
  await checkNamed(made, true);
  await checkSpool(spooled);
  const [strict] = chosen;
  if (strict !== undefined) await checkStrict(strict, `its file is damaged (${made[0]?.kind})`);
  await checkLax('other files are damaged while the daemon runs');
  await checkPolicies('files are damaged while the daemon runs');
  for (const each of made) kinds.repair(each);
  await checkAsBefore('a live round');
  await checkPolicies('after a live round');
  await checkVerbs();
}

/** One file of the data root or the configuration is damaged while no daemon runs. */
async function startRound(): Promise<void> {
  await world.stop();
  const own3 = random.shuffled(projects).slice(0, 3);
  const file = random.pick([
    ...random.shuffled(dataFiles()).slice(0, 10),
    ...ownFiles(),
    ...filesBelow(configDir),
    ...own3.map(({ folder }) => world.projectFile(folder)),
  ]);
  const kind = random.pick(file === globalFile ? kinds.present : kinds.ofFile);
  const made = kinds.damage(file, kind, file.startsWith(dataDir) ? dataDir : file);
  count.done += 1;
  count.restarts += 1;
  spoolSeen.rejected = 0;
  const outcome = await world.startOnce(START_WITHIN_MS);
  if (outcome === 'running') await afterStart(made);
  else {
    count.refusedStarts += 1;
    console.log(`  refused: ${describe(made)}: ${outcome.split('\n')[0]?.slice(0, 160)}`);
    checkRefusal(made, outcome);
  }
  kinds.repair(made);
  await start();
  await checkAsBefore('a restart');
  await checkPolicies('after a restart');
}

async function afterStart(made: Damage): Promise<void> {
  await checkNamed([made], false);
  const { log } = await world.health();
  // A log that cannot be written accepts no delivery: nothing can be done, and nothing is.
  if (log?.failing === null) {
    await checkStrict(random.pick(projects), `a start after ${describe(made)}`);
    await checkLax(`a start after ${describe(made)}`);
    await checkPolicies(`a start after ${describe(made)}`);
    for (const ticket of ['OLD-0', 'OLD-5']) await checkConversation(ticket);
  }
  await checkLooks();
  await world.stop();
}

/** Files of the data root, while the daemon runs. It is restarted before they are restored, as a person would do. */
async function dataRound(): Promise<void> {
  const saved = kinds.save(dataDir);
  const agents = ['OLD-4', 'OLD-5', 'OLD-6', 'OLD-7'];
  const ticket = random.pick(agents);
  const output = join(runsDir, 'run1/workers/output');
  const candidates = random
    .shuffled([
      ...ownFiles(),
      ...keptFiles(),
      ...dataFiles().filter((file) => file.startsWith(join(dataDir, 'events'))),
    ])
    .slice(0, DATA_AT_ONCE);
  const sent = join(output, `${ticket}.1.sent.jsonl`);
  const journal = join(output, `${ticket}.1.journal.jsonl`);
  const made: Damage[] = [];
  for (const file of candidates) made.push(kinds.damage(file, random.pick(kinds.ofFile)));
  for (const file of [sent, `${sent}.written`]) made.push(kinds.damage(file, random.pick(kinds.ofFile)));
  // A journal of gigabytes is read in pieces: that takes longer than two seconds, and holds up nothing else.
  made.push(kinds.damage(journal, random.pick(kinds.ofFile.filter((kind) => kind !== 'too large'))));
  count.done += made.length;
  count.live += made.length;
  await checkConversation(ticket);
  await checkLooks();
  const ofLog = made.find(({ file }) => file.startsWith(join(dataDir, 'events')));
  // The log notices what happened to its file when it writes the next line.
  const why = made.map(describe).join(', ');
  const strict = random.pick(projects);
  if (ofLog === undefined) {
    await checkStrict(strict, why);
    await checkLax(why);
  } else await checkStrictOrRefused(strict, why);
  await checkNamed(made, true);
  await checkPolicies(why);
  await world.stop();
  kinds.restore(dataDir, saved);
  await start();
  await checkAsBefore('data were restored');
  await checkPolicies('after data were restored');
}

/** A delivery that cannot be stored is refused; the worker keeps its state. */
async function checkStrictOrRefused({ repo }: Project, why: string): Promise<void> {
  merges += 1;
  count.strictMerges += 1;
  const status = await world.statusOrRefusal(`STR-${merges}`, repo, merges);
  if (status === 'done') note(`a merge of ${repo} is done: ${why}`);
}

function ownFiles(): string[] {
  const names = ['daemon.json', 'daemon.lock', 'format.json', 'host-id', 'last-good-config.json'];
  return [...names, 'svc.db', 'svc.db-wal']
    .map((name) => join(dataDir, name))
    .filter((file) => existsSync(file));
}

/** What only a look reads. */
function keptFiles(): string[] {
  const names = ['retention-due.json', 'hook-secrets.json', 'hook-token', 'archives/run1/manifest.json'];
  return names.map((name) => join(dataDir, name)).filter((file) => existsSync(file));
}

function dataFiles(): string[] {
  return filesBelow(dataDir).filter((file) => !file.startsWith(spoolDir));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

// A healthy daemon is looked at by the same checks, with one fault planted each: each must be noticed.
async function showThatChecksFail(): Promise<void> {
  const [first] = projects;
  if (first === undefined) return;
  const sabotages = async (what: string, text: string, work: () => Promise<void>): Promise<void> => {
    const before = problems.length;
    await world.hasty(work).catch((error: unknown) => note(`the check itself failed: ${String(error)}`));
    const found = problems.splice(before);
    judgeSabotage(
      what,
      found.join('; ').slice(0, 200),
      found.some((problem) => problem.includes(text)),
    );
  };
  const standStill = async (work: () => Promise<unknown>, ms = LIMIT_MS): Promise<void> => {
    process.kill(world.pid(), 'SIGSTOP');
    const resume = sleep(ms + 500).then(() => process.kill(world.pid(), 'SIGCONT'));
    await work();
    await resume;
  };
  const untilRead = async (repo: string, verification: string): Promise<void> => {
    for (let times = 0; times < START_WITHIN_MS / ASK_EVERY_MS; times += 1) {
      if ((await world.policies()).get(repo)?.includes(`"${verification}"`)) return;
      await sleep(ASK_EVERY_MS);
    }
  };
  const whole = (file: string): Damage => ({ file, top: file, kind: 'emptied', saved: '' });
  await sabotages('a daemon that stands still', '/api/health took', () => standStill(world.health));
  await sabotages('a delivery that waits', '/api/webhook took', () =>
    standStill(() => world.merge(first.repo, 70), MERGE_LIMIT_MS),
  );
  for (const file of [
    world.projectFile(first.folder),
    world.workerFile('OLD-0'),
    join(configDir, 'config-p0.json'),
    globalFile,
  ])
    await sabotages(`${shown(file)} is not named`, 'health names every damaged file', () =>
      checkNamed([whole(file)], true),
    );
  for (const file of ['host-id', 'svc.db', 'events/2026-11.jsonl', 'daemon.lock'])
    await sabotages(`${file} is not named`, 'health names every damaged file', () =>
      checkNamed(
        [{ ...whole(join(dataDir, file)), kind: file === 'daemon.lock' ? 'folder' : 'one byte' }],
        file === 'daemon.lock',
      ),
    );
  await sabotages('a file of the spool that is not rejected', 'the spool has rejected', () => {
    const name = 'none.json';
    writeFileSync(join(home.home, name), '{}');
    renameSync(join(home.home, name), join(spoolDir, name));
    return checkSpool([name, 'another.json']);
  });
  await sabotages('a damage that was not repaired', 'health is as before', async () => {
    const made = kinds.damage(world.workerFile('OLD-1'), 'emptied');
    await checkNamed([made], true);
    await checkAsBefore('nothing');
    kinds.repair(made);
  });
  await sabotages('a refused start that names nothing', 'does not name it', async () =>
    checkRefusal(whole(join(dataDir, 'host-id')), 'error: it cannot be read'),
  );
  await sabotages('an agent that cannot be looked at', '/api/workers/NONE-1/agent', () =>
    checkConversation('NONE-1'),
  );
  await sabotages('a policy that became lax', 'is done', async () => {
    world.writeProject(first, true);
    await untilRead(first.repo, 'skipped');
    await checkStrict(first, 'it became lax');
  });
  await sabotages('a policy that changed somewhere', 'became lax', () => checkPolicies('it became lax'));
  await sabotages('a verb that does not name the file', 'does not name it', () =>
    judgeVerb(whole(world.contextFile), ['context', 'most-recent'], () => true),
  );
  await sabotages('a lax repository that waits', 'waits', async () => {
    world.writeProject(laxProject, false);
    await untilRead(LAX, 'required');
    await checkLax('it became strict');
  });
  await sabotages('a daemon that ended', 'ended by itself', async () => {
    process.kill(world.pid(), 'SIGKILL');
    await world.ended();
    await world.health();
  });
}

console.log(`seed ${seed}, ${damages} damages; ${describeMachine()}`);
world.create();
const began = performance.now();
try {
  await start();
  world.archiveRun();
  await checkLax('nothing is damaged');
  policiesAtFirst = await world.policies();
  if (policiesAtFirst.size !== PROJECTS + 1)
    note(`${policiesAtFirst.size} policies of ${PROJECTS + 1} repositories`);
  if (sabotage) await showThatChecksFail();
  else {
    for (let round = 1; count.done < damages && problems.length < 20; round += 1) {
      await liveRound(round);
      await startRound();
      await dataRound();
      if (round % 10 === 0) console.log(`${count.done} damages, ${secondsSince(began)} s`);
    }
    await world.stop();
    const { slowest } = world;
    console.log(`${count.done} damages in ${secondsSince(began)} s: ${describeCounts(kinds.counts)}`);
    console.log(
      `${count.restarts} restarts with a damaged file, ${count.refusedStarts} refused with the reason; ${count.live} files of the data root while the daemon ran; ${count.strictMerges} merges of strict repositories, ${count.laxMerges} of a lax one; ${count.policies} policies compared`,
    );
    console.log(`${count.named} damages named by health; not shown, because:`);
    for (const [because, times] of excused) console.log(`  ${times}: ${because}`);
    console.log(
      `slowest answer ${slowest.answer.toFixed(0)} ms, slowest delivery ${slowest.delivery.toFixed(0)} ms, slowest notice ${slowest.noticed.toFixed(0)} ms, slowest start ${slowest.start.toFixed(0)} ms`,
    );
    console.log(`problems: ${problems.length}`);
    printProblems(problems);
    failUnless(problems.length === 0);
  }
} finally {
  await world.kill();
  rmSync(join(home.home, 'saved'), { recursive: true, force: true });
  world.remove();
}
