// What a person tries next: the version, the daemon, the doctor, completions, and a home that cannot be used. Each
// must answer in sentences: a stack trace is a failure, whatever the exit code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/testkit/src/daemon/free-port.ts';
import { createRandom } from '../../packages/testkit/src/random.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { run } from '../run-command.ts';
import type { Person } from './person.ts';

type Expected = {
  words: readonly string[];
  codes: readonly number[];
  says: RegExp;
  environment?: NodeJS.ProcessEnv;
};

/** One line for each that went wrong. */
export async function verbProblems(person: Person, version: string): Promise<string[]> {
  const data = join(person.folder, 'data of svc');
  const noHome = join(person.folder, 'no home');
  mkdirSync(data);
  // A file where the home should be: root may write to any folder, but nobody into a file.
  writeFileSync(noHome, '');
  const own = {
    ...person.environment,
    SVC_DATA_DIR: data,
    SVC_MONITOR_PORT: String(await freePort(createRandom(process.pid))),
  };
  const asked: Expected[] = [
    { words: ['svc', '--version'], codes: [0], says: new RegExp(`^${version.replaceAll('.', '[.]')}$`, 'm') },
    { words: ['svc', 'monitor', 'start'], codes: [0], says: /http:\/\/127\.0\.0\.1:\d+/ },
    { words: ['svc-monitor.sh', 'status'], codes: [0], says: /running/ },
    // It has something to say of a machine that is not set up: 1 is an answer.
    { words: ['svc', 'doctor'], codes: [0, 1], says: /daemon/ },
    { words: ['svc', 'monitor', 'stop'], codes: [0], says: /./ },
    { words: ['svc', 'completion', 'bash'], codes: [0], says: /complete/ },
    { words: ['check-project-setup.sh', '--help'], codes: [0], says: /Usage: svc/ },
    {
      words: ['svc', 'monitor', 'start'],
      codes: [6],
      says: /cannot be used: .*\n.*SVC_DATA_DIR/,
      environment: { ...person.environment, HOME: noHome },
    },
  ];
  const problems: string[] = [];
  for (const each of asked)
    problems.push(...(await problemsOf(each, person.project, each.environment ?? own)));
  return problems;
}

/** One line when it ended or spoke otherwise than expected. */
export async function problemsOf(asked: Expected, cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { words, codes, says } = asked;
  const { code, stdout, stderr } = await run('npx', ['--no', '--', ...words], {
    cwd,
    env,
    timeoutMs: WAIT_MS,
  });
  const said = `${stdout}\n${stderr}`;
  const isTrace = /^\s+at .*:\d+:\d+\)?$/m.test(said);
  if (codes.includes(code) && says.test(said) && !isTrace) return [];
  return [`${words.join(' ')} ended with ${code} and said:\n${said.trim()}`];
}
