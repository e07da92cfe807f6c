// Processes of a chaos script that run svc verbs: each line of their input is a JSON list of arguments.
import { spawn } from 'node:child_process';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import { endWithScript } from '../packages/testkit/src/script.ts';

/** `const startVerbs = await openVerbs(home)`, then `startVerbs().stdin.end('["findings","drain"]\n')` */
export async function openVerbs(home: string, environment: Record<string, string> = {}) {
  const program = await bundleProcess('chaos/verbs-process.ts');
  const env = { HOME: home, PATH: process.env['PATH'], ...environment };
  /** `errors`: whether to show its errors, which are noise if it is killed. */
  return (errors: 'inherit' | 'ignore' = 'inherit') =>
    endWithScript(spawn(process.execPath, [program], { cwd: home, env, stdio: ['pipe', 'ignore', errors] }));
}
