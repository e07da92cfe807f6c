// Installs agents, which needs the network, and then runs the script again in a network namespace that has only loopback.
import { spawn, spawnSync } from 'node:child_process';
import { endOf, failUnless, secondsSince, severalAtOnce } from '../../packages/testkit/src/script.ts';
import { install, type Program } from './programs.ts';

/** The names of those that are there, and of those that could not be installed. */
export async function installAll(
  programs: readonly Program[],
  cache: string,
  atOnce: number,
): Promise<{ installed: string[]; skipped: string[] }> {
  const skipped: string[] = [];
  await severalAtOnce(programs.length, atOnce, async (at) => {
    const program = programs[at];
    if (program === undefined) return;
    const started = performance.now();
    const { state, ...why } = await install(program, cache);
    const reason = 'reason' in why ? `: ${why.reason}` : '';
    console.log(`${program.name} ${program.version}: ${state}${reason} (${secondsSince(started)} s)`);
    if (state === 'missing') skipped.push(program.name);
  });
  const installed = programs.map(({ name }) => name).filter((name) => !skipped.includes(name));
  return { installed, skipped };
}

/** With `--network` and what it is, at the end of the arguments. */
export async function runAlone(script: string, args: readonly string[]): Promise<void> {
  const alone = ['--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const isAllowed = spawnSync('unshare', [...alone, 'true']).status === 0;
  const node = [process.execPath, script, ...args, '--network'];
  const [file = '', ...words] = isAllowed
    ? ['unshare', ...alone, ...node, 'loopback only']
    : [...node, 'that of the machine: a network namespace is not permitted'];
  const child = spawn(file, words, { stdio: 'inherit' });
  // It ends the agents.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  failUnless((await endOf(child)) === 0);
}
