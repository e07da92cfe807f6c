// Takes a person from an empty home to a shipped ticket, with real agents, a real terminal and a real browser, in a network
// namespace that has only loopback. The model can do its task only if the text of the ticket reached it. Counts every key,
// click and typed line on the way. `npm run journeys`; `-- --agents codex,copilot --only github,linear`; `--sabotage` takes
// the text of the ticket away on its way to the model: then no journey may succeed.
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
import { key, uninstall } from './journeys/later.ts';
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
  const busy = endWithScript(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const browser = await openChromium();
  let good = 0;
  let all = 0;
  for (const program of chosen) {
    for (const { name, run } of wanted) {
      const began = performance.now();
      const failure = await failureOf(run, {
        journey: name,
        program,
        cache: options.cache,
        browser,
        sabotage: options.sabotage,
      });
      all += 1;
      if (failure === undefined) good += 1;
      const verdict = failure === undefined ? 'ok' : `FAILED: ${failure}`;
      console.log(`${name}: ${program.name}: ${verdict} (${secondsSince(began)} s)`);
    }
  }
  await browser.close();
  busy.kill('SIGKILL');
  const summary = `${good} of ${all} journeys ended with a shipped ticket (${secondsSince(started)} s)`;
  if (options.sabotage) judgeSabotage('the ticket has no text', summary, good === 0);
  else console.log(summary);
  if (!options.sabotage) failUnless(good === all);
}

/** Everything that the journey started is ended and removed, also when it fails. */
async function failureOf(
  run: (world: World) => Promise<void>,
  setting: Setting,
): Promise<string | undefined> {
  await using ending = new AsyncDisposableStack();
  try {
    const world = await openWorld(ending, setting);
    await run(world);
    return world.figures.missed().join('; ') || undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
