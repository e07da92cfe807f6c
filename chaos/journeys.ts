// Takes a person from an empty home to a shipped ticket, with real agents, a real terminal and a real browser, in a network
// namespace that has only loopback. The model can do its task only if the text of the ticket reached it. Counts every key,
// click and typed line on the way. `npm run journeys`; `-- --agents codex,copilot --only github,linear`; `--sabotage` takes
// the word out of the ticket's text on its way to the model: then no journey may succeed.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openChromium } from '../packages/dashboard/e2e/chromium.ts';
import {
  describeMachine,
  endWithScript,
  failUnless,
  judgeSabotage,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { installAll, runAlone } from './agent-suite/alone.ts';
import { programs } from './agent-suite/programs.ts';
import { answers, github, linear, task } from './journeys/first-contact.ts';
import { openWorld, type Setting, type World } from './journeys/journey.ts';
import { key, keyless, uninstall } from './journeys/later.ts';
import { team } from './journeys/team.ts';

const journeys: Readonly<Record<string, (world: World) => Promise<void>>> = {
  github,
  linear,
  task,
  answers,
  key,
  team,
  uninstall,
};
/** Why an agent cannot take a journey, by journey and agent. */
const impossible: Readonly<Record<string, Readonly<Record<string, string>>>> = { key: keyless };

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: 'copilot,codex' },
    only: { type: 'string', default: Object.keys(journeys).join(',') },
    cache: { type: 'string', default: join(homedir(), '.cache/svc-agents') },
    sabotage: { type: 'boolean', default: false },
    /** How the second part is started by the first: with what it reports about the network. */
    network: { type: 'string' },
  },
});
const chosen = options.agents.split(',').map((name) => {
  const program = programs.find((one) => one.name === name);
  if (program === undefined) throw new Error(`There is no agent ${name}.`);
  return program;
});
const wanted = options.only.split(',').map((name) => {
  const run = journeys[name];
  if (run === undefined)
    throw new Error(`There is no journey ${name}. There are: ${Object.keys(journeys).join(', ')}`);
  return { name, run };
});

if (options.network === undefined) {
  const { installed } = await installAll(chosen, options.cache, 1);
  failUnless(installed.length === chosen.length);
  if (installed.length > 0)
    await runAlone(import.meta.filename, [...process.argv.slice(2), '--agents', installed.join(',')]);
} else await runAll(options.network);

async function runAll(network: string): Promise<void> {
  console.log(`${describeMachine()}; network: ${network}`);
  const started = performance.now();
  const { cache, sabotage } = options;
  const busy = endWithScript(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const browser = await openChromium();
  const ends: End[] = [];
  const left: string[] = [];
  for (const program of chosen)
    for (const { name, run } of wanted) {
      const reason = impossible[name]?.[program.name];
      if (reason !== undefined) {
        console.log(`${name}: ${program.name}: NOT POSSIBLE: ${reason}`);
        left.push(`${name} with ${program.name}`);
        continue;
      }
      const began = performance.now();
      const end = await endOf(run, { journey: name, program, cache, browser, sabotage });
      ends.push(end);
      const verdict = end.failure === undefined ? 'ok' : `FAILED: ${end.failure}`;
      console.log(`${name}: ${program.name}: ${verdict} (${secondsSince(began)} s)`);
    }
  await browser.close();
  busy.kill('SIGKILL');
  const good = ends.filter(({ failure }) => failure === undefined).length;
  const notTaken = left.length > 0 ? `; not possible: ${left.join(', ')}` : '';
  const summary = `${good} of ${ends.length} journeys came to their end${notTaken} (${secondsSince(started)} s)`;
  const isNoticed =
    ends.length > 0 && ends.every(({ failure, lackedWord }) => failure !== undefined && lackedWord);
  if (sabotage) return judgeSabotage('the word of the ticket does not reach the model', summary, isNoticed);
  console.log(summary);
  failUnless(good === ends.length);
}

type End = {
  failure: string | undefined;
  /** The model was asked to work on a ticket whose word it did not get. */
  lackedWord: boolean;
};

/** Everything that the journey started is ended and removed, also when it fails. */
async function endOf(run: (world: World) => Promise<void>, setting: Setting): Promise<End> {
  const ending = new AsyncDisposableStack();
  try {
    const world = await openWorld(ending, setting);
    const failure = await run(world).then(
      () => world.figures.missed().join('; ') || undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { failure, lackedWord: world.model.withoutWord() > 0 };
  } finally {
    await ending.disposeAsync();
  }
}
