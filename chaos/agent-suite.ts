// Tries svc with the six real coding agents, pinned and installed from npm into a cache outside the repository, against a
// streaming fake model, in a network namespace that has only loopback. `npm run agents:suite`;
// `-- --agents copilot,qwen --cache <folder>`; `--write` writes docs/agents.md, `--record` the transcripts that the tests
// of packages/core replay.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStreamingModels } from '../packages/testkit/src/models/streaming-models.ts';
import {
  describeMachine,
  endOf,
  failUnless,
  secondsSince,
  severalAtOnce,
} from '../packages/testkit/src/script.ts';
import { type AgentResult, capabilities, checkAgent } from './agent-suite/checks.ts';
import { type Driver, startTicket } from './agent-suite/driver.ts';
import { agentsPage } from './agent-suite/page.ts';
import { install, type Program, programs } from './agent-suite/programs.ts';
import { recordTranscript } from './agent-suite/record.ts';
import { MARKER, replyTo } from './agent-suite/replies.ts';

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: programs.map(({ name }) => name).join(',') },
    cache: { type: 'string', default: join(homedir(), '.cache/svc-agents') },
    write: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '1' },
    record: { type: 'boolean', default: false },
    /** How the second part is started by the first: with what it reports about the network. */
    network: { type: 'string' },
    skipped: { type: 'string', multiple: true, default: [] },
  },
});
const chosen = options.agents.split(',').map((name) => {
  const program = programs.find((one) => one.name === name);
  if (program === undefined) throw new Error(`There is no agent ${name}.`);
  return program;
});
if (options.network === undefined) await installAndRun();
else await runSuite(options.network);

async function installAndRun(): Promise<void> {
  const skipped: string[] = [];
  await severalAtOnce(chosen.length, Number(options['at-once']), async (at) => {
    const program = chosen[at];
    if (program === undefined) return;
    const started = performance.now();
    const { state, ...why } = await install(program, options.cache);
    const reason = 'reason' in why ? `: ${why.reason}` : '';
    console.log(`${program.name} ${program.version}: ${state}${reason} (${secondsSince(started)} s)`);
    if (state === 'missing') skipped.push(program.name);
  });
  const installed = chosen.map(({ name }) => name).filter((name) => !skipped.includes(name));
  if (installed.length === 0) return console.log(`0 agents, ${skipped.length} skipped: nothing was tried`);
  const rest = process.argv
    .slice(2)
    .filter((_, at, all) => all[at] !== '--agents' && all[at - 1] !== '--agents');
  const args = [import.meta.filename, ...rest, '--agents', installed.join(',')];
  for (const name of skipped) args.push('--skipped', name);
  const alone = ['--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const isAllowed = spawnSync('unshare', [...alone, 'true']).status === 0;
  const node = [process.execPath, ...args, '--network'];
  const [file = '', ...words] = isAllowed
    ? ['unshare', ...alone, ...node, 'loopback only']
    : [...node, 'that of the machine: a network namespace is not permitted'];
  const child = spawn(file, words, { stdio: 'inherit' });
  // It ends the agents.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  failUnless((await endOf(child)) === 0);
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
  if (options.write) {
    const { skipped } = options;
    const date = new Date().toISOString().slice(0, 10);
    const result = { date, machine: describeMachine(), network, skipped, agents: results };
    writeFileSync(
      join(import.meta.dirname, 'agent-suite/results.json'),
      `${JSON.stringify(result, null, 2)}\n`,
    );
    writeFileSync(join(import.meta.dirname, '../docs/agents.md'), agentsPage(result));
  }
  failUnless(good === all.length && all.length === results.length * capabilities.length);
}

async function runAgent(program: Program | undefined): Promise<AgentResult> {
  if (program === undefined) throw new Error('There is no such agent.');
  let cwd = '';
  const models = await startStreamingModels(MARKER, (asked) => replyTo(asked, cwd));
  const start = async (): Promise<Driver> => {
    const driver = await startTicket(program, options.cache, models.url);
    ({ cwd } = driver);
    return driver;
  };
  try {
    return await checkAgent({ program, asked: models.asked, start }, async (files, root) => {
      if (options.record) await recordTranscript(program.name, files, root);
    });
  } finally {
    await models.close();
  }
}
