// Runs other programs for the release: no shell, a time limit, and an environment without the additions of `npm run`.
import { spawn } from 'node:child_process';

export type Ended = { code: number; stdout: string; stderr: string };
type Options = { cwd: string; env?: NodeJS.ProcessEnv; timeoutMs?: number };

const LONGEST_MS = 180_000;

/** Resolves however it ends. A program that takes too long is killed, and has code 124. */
export function run(command: string, words: readonly string[], options: Options): Promise<Ended> {
  const { cwd, env = ownEnvironment(), timeoutMs = LONGEST_MS } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended: Ended = { code: 0, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (part: string) => (ended.stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (ended.stderr += part));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ ...ended, code: isLate ? 124 : (code ?? 1) });
    });
  });
}

/** Throws with its output if it fails. */
export async function mustRun(command: string, words: readonly string[], options: Options): Promise<Ended> {
  const ended = await run(command, words, options);
  if (ended.code === 0) return ended;
  const said = `${ended.stdout}\n${ended.stderr}`.trim().split('\n').slice(-30).join('\n');
  throw new Error(`${command} ${words.join(' ')} ended with ${ended.code}:\n${said}`);
}

/**
 * The user's environment. `npm run` adds its working folder and the settings of that folder, with which another npm
 * would work there too; registry, proxy and cache are the user's own and stay.
 */
export function ownEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const added =
    /^(?:INIT_CWD|npm_(?:package|lifecycle|command|execpath|node_execpath)|npm_config_(?:local_prefix|prefix|global_prefix|user_agent|npm_version|node_gyp))/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !added.test(name)));
}
