// Tries svc with the six real coding agents, pinned and installed from npm into a cache outside the repository, against a
// streaming fake model, in a network namespace that has only loopback. `npm run agents:suite`;
// `-- --agents copilot,qwen --cache <folder>`; `--write` writes docs/tested-agents.md, `--record` the transcripts that the tests
// of the agents feature replay. `--first-run` does something else: in a new home, `svc skills install` and then
// `svc orchestrate start` with the default configuration must lead to a pull request.
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hookedAgents } from '../packages/monitor/src/features/sessions/hook-event.ts';
import { startStreamingModels } from '../packages/testkit/src/models/streaming-models.ts';
import { describeMachine, failUnless, secondsSince, severalAtOnce } from '../packages/testkit/src/script.ts';
import { installAll, runAlone } from './agent-suite/alone.ts';
import { type AgentResult, capabilities, checkAgent } from './agent-suite/checks.ts';
import { type Driver, startTicket } from './agent-suite/driver.ts';
import { firstRun } from './agent-suite/first-run.ts';
import { checkHooks, hookChecks, isHooked } from './agent-suite/hooks.ts';
import { agentsPage, type HooksResult, type SuiteResult } from './agent-suite/page.ts';
import { type Program, programs } from './agent-suite/programs.ts';
import { recordTranscript } from './agent-suite/record.ts';
import { MARKER, replyTo } from './agent-suite/replies.ts';

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: programs.map(({ name }) => name).join(',') },
    cache: { type: 'string', default: join(homedir(), '.cache/svc-agents') },
    write: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '1' },
    record: { type: 'boolean', default: false },
    /** Agents that a person starts, instead of those that svc runs. */
    hooks: { type: 'boolean', default: false },
    'first-run': { type: 'boolean', default: false },
    /** How the second part is started by the first: with what it reports about the network. */
    network: { type: 'string' },
    skipped: { type: 'string', multiple: true, default: [] },
  },
});
const chosen = options.agents
  .split(',')
  .map((name) => {
    const program = programs.find((one) => one.name === name);
    if (program === undefined) throw new Error(`There is no agent ${name}.`);
    return program;
  })
  .filter(({ name }) => !options.hooks || isHooked(name));
if (options.network === undefined) await installAndRun();
else if (options.hooks) await runHooks(options.network);
else if (options['first-run']) await runFirst(options.network);
else await runSuite(options.network);

async function installAndRun(): Promise<void> {
  const { installed, skipped } = await installAll(chosen, options.cache, Number(options['at-once']));
  if (installed.length === 0) return console.log(`0 agents, ${skipped.length} skipped: nothing was tried`);
  const rest = process.argv
    .slice(2)
    .filter((_, at, all) => all[at] !== '--agents' && all[at - 1] !== '--agents');
  const args = [...rest, '--agents', installed.join(',')];
  for (const name of skipped) args.push('--skipped', name);
  await runAlone(import.meta.filename, args);
}

async function runFirst(network: string): Promise<void> {
  console.log(`${describeMachine()}; network: ${network}`);
  const started = performance.now();
  const opened = await severalAtOnce(chosen.length, Number(options['at-once']), (at) =>
    firstRun(chosen[at], options.cache),
  );
  const good = opened.filter(Boolean).length;
  console.log(`${good} of ${opened.length} agents opened their pull request (${secondsSince(started)} s)`);
  failUnless(good === chosen.length);
}

async function runSuite(network: string): Promise<void> {
  console.log(`${describeMachine()}; network: ${network}`);
  const started = performance.now();
  const results = await severalAtOnce(chosen.length, Number(options['at-once']), (at) =>
    runAgent(chosen[at]),
  );
  const all = results.flatMap(({ outcomes }) => Object.values(outcomes));
  const good = all.filter(({ ok }) => ok).length;
  console.log(
    `${results.length} agents, ${options.skipped.length} skipped${options.skipped.length > 0 ? ` (${options.skipped.join(', ')})` : ''}: ${good} of ${all.length} checks ok (${secondsSince(started)} s)`,
  );
  if (options.write)
    writePage('results.json', { ...today(network), skipped: options.skipped, agents: results });
  failUnless(good === all.length && all.length === results.length * capabilities.length);
}

async function runAgent(program: Program | undefined): Promise<AgentResult> {
  if (program === undefined) throw new Error('There is no such agent.');
  let cwd = '';
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const models = await startStreamingModels(MARKER, (asked) => replyTo(asked, cwd, released));
  const start = async (): Promise<Driver> => {
    const driver = await startTicket(program, options.cache, models.url);
    ({ cwd } = driver);
    return driver;
  };
  try {
    return await checkAgent({ program, asked: models.asked, start, release }, async (files, root) => {
      if (options.record) await recordTranscript(program.name, files, root);
    });
  } finally {
    await models.close();
  }
}

async function runHooks(network: string): Promise<void> {
  console.log(`${describeMachine()}; network: ${network}`);
  const results = await severalAtOnce(chosen.length, Number(options['at-once']), async (at) => {
    const program = chosen[at];
    if (program === undefined || !isHooked(program.name)) throw new Error('There is no such agent.');
    let cwd = '';
    const never = new Promise<never>(() => undefined);
    const models = await startStreamingModels(MARKER, (asked) => replyTo(asked, cwd, never));
    try {
      return await checkHooks({ ...program, name: program.name }, options.cache, models.url, (folder) => {
        cwd = folder;
      });
    } finally {
      await models.close();
    }
  });
  const all = results.flatMap(({ outcomes }) => Object.values(outcomes));
  const good = all.filter(({ ok }) => ok).length;
  console.log(`${results.length} agents with hooks: ${good} of ${all.length} checks ok`);
  if (options.write) {
    // Those that were not tried now keep their results.
    const { agents } = readResults('hook-results.json') as HooksResult;
    const newest = (name: string) => [...results, ...agents].find((one) => one.name === name) ?? [];
    writePage('hook-results.json', { ...today(network), agents: hookedAgents.flatMap(newest) });
  }
  failUnless(good === all.length && all.length === results.length * hookChecks.length);
}

function today(network: string) {
  return { date: new Date().toISOString().slice(0, 10), machine: describeMachine(), network };
}

/** Writes the results of this run, and the page with those of both parts. */
function writePage(name: string, result: object): void {
  const folder = join(import.meta.dirname, 'agent-suite');
  writeFileSync(join(folder, name), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(
    join(folder, '../../docs/tested-agents.md'),
    agentsPage(readResults('results.json') as SuiteResult, readResults('hook-results.json') as HooksResult),
  );
}

function readResults(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'agent-suite', name), 'utf8'));
}
