// Damages the files that the daemon reads, in every way that somebody else could: bytes, types, kinds of file, permissions,
// links, pipes, sockets, names. Files of the configuration, of projects and of workers are damaged while the daemon runs,
// many at once; files of the data root, also those of the configuration, while it is stopped, and then it is started.
// After each round everything is repaired. Checked all the time: the daemon answers within two seconds, and never ends;
// a start ends too, and names the file that it refuses. Health names every damaged file, and is as before after the
// repair. In each round a pull request of a strict repository with a damaged file is merged: it never counts as done.
// `npm run chaos:files`; `-- --damages 300 --seed 7` for a short run; `--sabotage` shows that each check can fail.
import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canBeOtherUser, OTHER_UID } from '../packages/testkit/src/access/other-user.ts';
import type { ServerProcess } from '../packages/testkit/src/daemon/server-process.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeCounts,
  describeMachine,
  failUnless,
  judgeSabotage,
  printProblems,
  scriptOptions,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';

const { damages, seed, atOnce, sabotage } = scriptOptions({
  damages: 10_000,
  seed: 1,
  atOnce: 100,
  sabotage: false,
});
const PROJECTS = 120;
const LIMIT_MS = 2_000;
/** How long health may take to show a damage or a repair. A busy machine is slow; the daemon must still answer. */
const HANGS_AFTER_MS = 10 * LIMIT_MS;
const NOTICED_WITHIN_MS = 60_000;
const START_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 100;

// The world: a home of an ordinary user, because root may read everything.

const uid = canBeOtherUser ? OTHER_UID : undefined;
const random = createRandom(seed);
const home = createDaemonHome('chaos-files');
const configDir = join(home.home, '.config/svc');
const runsDir = join(home.dataDir, 'runs');
const spoolDir = join(home.dataDir, 'spool');
const projects = Array.from({ length: PROJECTS }, (_, index) => ({
  folder: join(home.home, `projects/p${index}`),
  repo: `acme/p${index}`,
}));
const projectFile = (folder: string): string => join(folder, '.svc/config.json');
const globalFile = join(configDir, 'config.json');
const problems: string[] = [];
const slowest = { health: 0, noticed: 0, start: 0 };
const counts = new Map<string, number>();

function note(problem: string): void {
  problems.push(problem);
  console.log(`  PROBLEM: ${problem}`);
}

function createWorld(): void {
  for (const [index, { folder, repo }] of projects.entries()) {
    mkdirSync(join(folder, '.git'), { recursive: true });
    writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
    const [org, name] = repo.split('/');
    writeInto(folder, '.svc/config.json', {
      svc: {
        projectKey: `p${index}`,
        repository: { org, name },
        deploy: { [repo]: { skipDeployVerification: false } },
      },
    });
    if (index % 10 === 0) writeInto(configDir, `config-p${index}.json`, { svc: {} });
  }
  writeInto(join(home.home, 'lax'), '.svc/config.json', {
    svc: { projectKey: 'lax', deploy: { 'acme/lax': { skipDeployVerification: true } } },
  });
  writeInto(configDir, 'config.json', {
    svc: { projects: [...projects.map(({ folder }) => folder), join(home.home, 'lax')] },
  });
  mkdirSync(spoolDir, { recursive: true });
  for (let number = 0; number < 8; number += 1) writeWorker(`OLD-${number}`, 'acme/lax', 10_000 + number);
  own(home.home);
}

/** Without another process: this is done thousands of times. */
function own(path: string): void {
  if (uid === undefined) return;
  lchownSync(path, uid, uid);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}

/** Makes a folder removable, whatever its permissions are. */
function open(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) open(join(folder, entry.name));
}

function workerFile(ticket: string): string {
  return join(runsDir, 'run1/workers', `${ticket}.json`);
}

function writeWorker(ticket: string, repo: string, number: number): void {
  const at = new Date().toISOString();
  const file = workerFile(ticket);
  mkdirSync(dirname(file), { recursive: true });
  const text = JSON.stringify({
    ticket,
    orchestrator: 'run1',
    workerName: ticket,
    status: 'pr-created',
    phase: 5,
    startedAt: new Date(Date.now() - 120_000).toISOString(),
    updatedAt: at,
    repo,
    branch: `b${number}`,
    pr: { number, url: `https://github.com/${repo}/pull/${number}` },
  });
  writeFileSync(`${file}.tmp`, text);
  if (uid !== undefined) chownSync(`${file}.tmp`, uid, uid);
  renameSync(`${file}.tmp`, file);
}

// The daemon, and what it answers.

type Health = {
  status: string;
  configuration: { problems: { severity: string; file: string; text: string }[] };
  signals: { corruptFiles?: string[]; why?: string };
  spool: { rejected: number };
};

let daemon: ServerProcess | undefined;
let port = 0;
let isMeantToRun = false;

async function start(): Promise<void> {
  const began = performance.now();
  daemon = startDaemon(home, { ...(uid !== undefined && { uid }), environment: { SVC_AUTONOMOUS: '1' } });
  const current = daemon;
  const watch = async (): Promise<void> => {
    const how = await current.ended;
    if (isMeantToRun && daemon === current) note(`the daemon ended by itself: ${how}`);
  };
  void watch();
  ({ port } = await current.ready);
  isMeantToRun = true;
  slowest.start = Math.max(slowest.start, performance.now() - began);
}

async function stop(): Promise<void> {
  isMeantToRun = false;
  const how = await daemon?.stop();
  if (how !== 0) note(`the daemon ended with ${how} when it was asked to stop`);
}

/** Every answer is measured: this is the check for hangs. */
async function ask<T>(path: string, body?: string, headers: Record<string, string> = {}): Promise<T> {
  const began = performance.now();
  const waitedBefore = waitedForProcessor();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    signal: AbortSignal.timeout(HANGS_AFTER_MS),
    ...(body !== undefined && {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    }),
  }).catch((error: unknown) => {
    throw new Error(`${path} was not answered within ${HANGS_AFTER_MS / 1_000} s`, { cause: error });
  });
  const answer = (await response.json()) as T;
  // On a busy machine the daemon waits for its turn; that is not its fault.
  const took = performance.now() - began - (waitedForProcessor() - waitedBefore);
  const isQuestion = body === undefined;
  if (isQuestion) slowest.health = Math.max(slowest.health, took);
  // A delivery may wait until the files have been read again, each within its own limit; questions never do.
  if (took > (isQuestion ? LIMIT_MS : 5 * LIMIT_MS)) note(`${path} took ${took.toFixed(0)} ms`);
  if (!response.ok) note(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

function waitedForProcessor(): number {
  const file = `/proc/${daemon?.pid}/schedstat`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6 : 0;
}

/** What the health names: files of the configuration with an error, and workers' files. */
async function namedFiles(): Promise<Set<string>> {
  const { configuration, signals } = await ask<Health>('/api/health');
  return new Set([
    ...configuration.problems.filter(({ severity }) => severity === 'error').map(({ file }) => file),
    ...(signals.corruptFiles ?? []),
    ...(signals.why === undefined ? [] : [signals.why]),
  ]);
}

async function waitUntil(what: string, holds: () => Promise<string[]>): Promise<boolean> {
  const began = performance.now();
  for (;;) {
    const missing = await holds();
    if (missing.length === 0) {
      slowest.noticed = Math.max(slowest.noticed, performance.now() - began);
      return true;
    }
    if (performance.now() - began > NOTICED_WITHIN_MS) {
      note(`${what}: ${missing.slice(0, 5).join('; ')}`);
      return false;
    }
    await sleep(ASK_EVERY_MS);
  }
}

async function merge(repo: string, number: number): Promise<void> {
  const at = new Date().toISOString();
  const sha = number.toString(16).padStart(40, 'a');
  const body = JSON.stringify({
    action: 'closed',
    number,
    pull_request: {
      number,
      state: 'closed',
      merged: true,
      merged_at: at,
      merge_commit_sha: sha,
      draft: false,
      title: 'Change',
      html_url: `https://github.com/${repo}/pull/${number}`,
      created_at: at,
      updated_at: at,
      closed_at: at,
      head: { ref: `b${number}`, sha: sha.replaceAll('a', 'b'), repo: { full_name: repo } },
      base: { ref: 'main', repo: { full_name: repo } },
    },
    repository: { full_name: repo },
  });
  const signature = createHmac('sha256', codehostSecret).update(body).digest('hex');
  const delivered = ask('/api/webhook', body, {
    'X-Codehost-Event': 'pull_request',
    'X-Codehost-Delivery': randomUUID(),
    'X-Hub-Signature-256': `sha256=${signature}`,
  });
  await Promise.all([delivered, namedFiles()]);
}

type Board = { workers: { ticket: string; status: string }[] };

async function statuses(): Promise<Map<string, string>> {
  const { workers } = await ask<Board>('/api/board?all=1');
  return new Map(workers.map(({ ticket, status }) => [ticket, status]));
}

/** Waits until the merge counts, whatever it counts as. */
async function statusAfterMerge(ticket: string, repo: string, number: number): Promise<string> {
  writeWorker(ticket, repo, number);
  await waitUntil(`${ticket} is on the board`, async () => ((await statuses()).has(ticket) ? [] : [ticket]));
  await merge(repo, number);
  let status = '';
  await waitUntil(`the merge of ${ticket} counts`, async () => {
    status = (await statuses()).get(ticket) ?? '';
    return status === 'pr-created' ? [status] : [];
  });
  return status;
}

// Damages. Each returns false if it cannot be done here.

type Damage = { file: string; kind: string; saved: string };
const savedDir = join(home.home, 'saved');

const kinds: Record<string, (file: string) => void> = {
  removed: (file) => rmSync(file, { recursive: true }),
  emptied: (file) => writeFileSync(file, ''),
  cut: (file) => truncateSync(file, random.below(Math.max(1, lstatSync(file).size - 2))),
  'random bytes': (file) => writeFileSync(file, random.bytes(1 + random.below(2_000))),
  'one byte': (file) => {
    const bytes = readFileSync(file);
    bytes[0] = 0;
    writeFileSync(file, bytes);
  },
  'another type': (file) =>
    writeFileSync(file, random.pick(['null', '[]', '"text"', '7', 'true', '{"svc":[]}'])),
  'too large': (file) => truncateSync(file, 3 * 2 ** 30),
  'nested deeply': (file) => writeFileSync(file, '['.repeat(100_000)),
  folder: replaced((file) => mkdirSync(file)),
  'full folder': replaced((file) => writeInto(file, 'x/y', 'text')),
  pipe: replaced((file) => void execFileSync('mkfifo', [file])),
  socket: replaced((file) => {
    const server = createServer().listen(file.length < 100 ? file : '/dev/null/too-long');
    server.on('error', () => undefined).unref();
    if (!existsSync(file)) mkdirSync(file);
  }),
  'link to itself': replaced((file) => symlinkSync(basename(file), file)),
  'link to nothing': replaced((file) => symlinkSync('/nowhere/at/all', file)),
  'link to a device': replaced((file) => symlinkSync('/dev/zero', file)),
  'link to a terminal': replaced((file) => symlinkSync('/dev/tty', file)),
  'link to a name too long': replaced((file) => symlinkSync(`/${'n'.repeat(300)}`, file)),
  'link to another file': replaced((file) => symlinkSync('/etc/hostname', file)),
  'no permission': (file) => chmodSync(file, 0),
  'no permission for its folder': (file) => chmodSync(dirname(file), 0),
  'only listing its folder': (file) => chmodSync(dirname(file), 0o600),
  'its folder is a file': (file) => {
    rmSync(dirname(file), { recursive: true });
    writeFileSync(dirname(file), '');
  },
  'its folder is a link to itself': (file) => {
    rmSync(dirname(file), { recursive: true });
    symlinkSync(basename(dirname(file)), dirname(file));
  },
  'its folder is gone': (file) => rmSync(dirname(file), { recursive: true }),
  'its project is gone': (file) => rmSync(dirname(dirname(file)), { recursive: true }),
  'its project is an empty folder': (file) => {
    rmSync(dirname(dirname(file)), { recursive: true });
    mkdirSync(dirname(dirname(file)));
  },
  'its project is a link to itself': (file) => {
    rmSync(dirname(dirname(file)), { recursive: true });
    symlinkSync(basename(dirname(dirname(file))), dirname(dirname(file)));
  },
  'no permission for its project': (file) => chmodSync(dirname(dirname(file)), 0),
};
const ownKinds = Object.keys(kinds).filter((kind) => !kind.includes('its '));

/** Without the list, no project is served: that is a decision, not a damage. */
const listKinds = ownKinds.filter((kind) => kind !== 'removed');

function replaced(make: (file: string) => void): (file: string) => void {
  return (file) => {
    rmSync(file, { recursive: true });
    make(file);
  };
}

/** `top` is what the damage may change, and what is restored. */
function damage(file: string, kind: string, top: string): Damage {
  const saved = join(savedDir, randomUUID());
  mkdirSync(savedDir, { recursive: true, mode: 0o700 });
  cpSync(top, saved, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  kinds[kind]?.(file);
  if (existsSync(top)) own(top);
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return { file: top, kind, saved };
}

function repair({ file, saved }: Damage): void {
  const beside = `${file}.repaired`;
  cpSync(saved, beside, { recursive: true, verbatimSymlinks: true });
  own(beside);
  const now = lstatSync(file, { throwIfNoEntry: false });
  if (now?.isDirectory()) open(file);
  // A file is replaced in one step; anything else has to be removed first.
  if (now?.isDirectory() || lstatSync(beside).isDirectory()) rmSync(file, { recursive: true, force: true });
  renameSync(beside, file);
  rmSync(saved, { recursive: true });
}

// Rounds.

/** What health must show of a damaged project: the file, or the folder that is gone. */
function isNamed(named: ReadonlySet<string>, folder: string): boolean {
  return named.has(projectFile(folder)) || named.has(folder);
}

let done = 0;
let mergesInDamage = 0;
let restarts = 0;
let refusedStarts = 0;

/** Projects, workers, spool and machine files, all while the daemon runs. */
async function liveRound(number: number): Promise<void> {
  const wanted = Math.min(atOnce, damages - done);
  const chosen = random.shuffled(projects).slice(0, wanted);
  const made = chosen.map(({ folder }) =>
    damage(projectFile(folder), random.pick(Object.keys(kinds)), folder),
  );
  const workers = [0, 1, 2, 3].map((index) => workerFile(`OLD-${index}`));
  for (const file of workers) made.push(damage(file, random.pick(ownKinds), file));
  for (const name of ['a', 'b']) {
    // Damaged first, because the daemon takes it at once.
    const file = join(home.home, `2026-${number}-${name}.json`);
    writeFileSync(file, '{}');
    damage(file, random.pick(ownKinds.filter((kind) => kind !== 'removed')), file);
    renameSync(file, join(spoolDir, basename(file)));
    done += 1;
  }
  const secrets = join(configDir, `config-p${10 * random.below(PROJECTS / 10)}.json`);
  made.push(damage(secrets, random.pick(ownKinds), secrets));
  const isGlobalToo = number % 5 === 0;
  if (isGlobalToo) made.push(damage(globalFile, random.pick(listKinds), globalFile));
  done += made.length;
  await waitUntil('health names every damaged project', async () => {
    const named = await namedFiles();
    return chosen.filter(({ folder }) => !isNamed(named, folder)).map(({ folder }) => kindOf(made, folder));
  });
  const strict = chosen[0];
  if (strict !== undefined) {
    const status = await statusAfterMerge(`STR-${number}`, strict.repo, 1_000 + number);
    mergesInDamage += 1;
    if (status === 'done') note(`a merge of ${strict.repo} is done: ${kindOf(made, strict.folder)}`);
  }
  for (const each of made) repair(each);
  await waitUntil('health is as before', async () => [...(await namedFiles())].map((file) => shown(file)));
}

function kindOf(made: readonly Damage[], folder: string): string {
  return `${shown(folder)}: ${made.find(({ file }) => file === folder)?.kind}`;
}

function shown(file: string): string {
  return relative(home.home, file);
}

/** One file of the data root or the configuration is damaged while no daemon runs. */
async function startRound(): Promise<void> {
  await stop();
  const candidates = [
    ...filesBelow(home.dataDir).filter((file) => !file.startsWith(spoolDir)),
    ...filesBelow(configDir),
    ...random
      .shuffled(projects)
      .slice(0, 3)
      .map(({ folder }) => projectFile(folder)),
  ];
  const file = random.pick(candidates);
  const kind = random.pick(file === globalFile ? listKinds : ownKinds);
  const strict = random.pick(projects);
  const isData = file.startsWith(home.dataDir);
  const made = damage(file, kind, isData ? home.dataDir : file);
  done += 1;
  restarts += 1;
  const began = performance.now();
  const outcome = await startOnce();
  const took = performance.now() - began;
  if (took > START_WITHIN_MS) note(`a start with ${shown(file)} (${kind}) took ${took.toFixed(0)} ms`);
  if (outcome === 'running') {
    await namedFiles();
    const ticket = `RES-${restarts}`;
    if (!isData) {
      const status = await statusAfterMerge(ticket, strict.repo, 5_000 + restarts);
      mergesInDamage += 1;
      if (status === 'done') note(`a merge of ${strict.repo} is done after ${shown(file)}: ${kind}`);
    }
    await stop();
  } else {
    refusedStarts += 1;
    const [reason = ''] = outcome.split('\n');
    console.log(`  refused: ${shown(file)} (${kind}): ${reason.slice(0, 160)}`);
    if (!outcome.includes(basename(file)) && !outcome.includes(home.dataDir))
      note(`a refused start with ${shown(file)} (${kind}) does not name it: ${outcome}`);
    if (/bug in svc/.test(outcome)) note(`a start with ${shown(file)} (${kind}): ${outcome}`);
  }
  repair(made);
  await start();
  await waitUntil('health is as before a restart', async () =>
    [...(await namedFiles())].map((each) => shown(each)),
  );
}

/** `running`, or what a start that was refused printed. */
async function startOnce(): Promise<string> {
  const before = existsSync(home.output) ? readFileSync(home.output, 'utf8').length : 0;
  try {
    await start();
    return 'running';
  } catch {
    isMeantToRun = false;
    await daemon?.kill();
    return readFileSync(home.output, 'utf8').slice(before).slice(-2_000);
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

// A healthy daemon is looked at by the same checks, with one fault planted each: each must be noticed.
async function showThatChecksFail(): Promise<void> {
  const [first] = projects;
  if (first === undefined || daemon === undefined) return;
  const noticed = async (work: () => Promise<void>): Promise<string[]> => {
    const before = problems.length;
    await work().catch((error: unknown) => note(`the check itself failed: ${String(error)}`));
    return problems.splice(before);
  };
  const hang = await noticed(async () => {
    process.kill(daemon?.pid ?? 0, 'SIGSTOP');
    const resume = sleep(LIMIT_MS + 500).then(() => process.kill(daemon?.pid ?? 0, 'SIGCONT'));
    await namedFiles();
    await resume;
  });
  judgeSabotage(
    'a daemon that stands still',
    hang.join(),
    hang.some((text) => text.includes('took')),
  );
  const lax = await noticed(async () => {
    writeInto(first.folder, '.svc/config.json', {
      svc: { projectKey: 'p0', deploy: { [first.repo]: { skipDeployVerification: true } } },
    });
    own(first.folder);
    await sleep(3 * LIMIT_MS);
    const status = await statusAfterMerge('LAX-1', first.repo, 77);
    if (status === 'done') note('a merge is done');
  });
  judgeSabotage('a policy that became lax', lax.join(), lax.includes('a merge is done'));
  const crash = await noticed(async () => {
    process.kill(daemon?.pid ?? 0, 'SIGKILL');
    await daemon?.ended;
    await namedFiles();
  });
  judgeSabotage(
    'a daemon that ended',
    crash.join(),
    crash.some((text) => text.includes('ended by itself')),
  );
}

console.log(`seed ${seed}, ${damages} damages; ${describeMachine()}`);
createWorld();
const began = performance.now();
try {
  await start();
  const status = await statusAfterMerge('LAX-0', 'acme/lax', 1);
  if (status !== 'done')
    note(`the merge of a lax repository is ${status}, so the check of policies shows nothing`);
  if (sabotage) await showThatChecksFail();
  else {
    for (let round = 1; done < damages && problems.length < 20; round += 1) {
      await liveRound(round);
      await startRound();
      if (round % 10 === 0) console.log(`${done} damages, ${secondsSince(began)} s`);
    }
    await stop();
    console.log(`${done} damages in ${secondsSince(began)} s: ${describeCounts(counts)}`);
    console.log(
      `${restarts} restarts with a damaged file, ${refusedStarts} refused with the reason; ${mergesInDamage} merges of strict repositories`,
    );
    console.log(
      `slowest answer ${slowest.health.toFixed(0)} ms, slowest notice ${slowest.noticed.toFixed(0)} ms, slowest start ${slowest.start.toFixed(0)} ms`,
    );
    console.log(`problems: ${problems.length}`);
    printProblems(problems);
    failUnless(problems.length === 0);
  }
} finally {
  isMeantToRun = false;
  await daemon?.kill();
  open(home.home);
  home.remove();
}
