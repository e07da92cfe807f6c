// The one ticket whose agent really runs: a small repository in the project's folder, and a run with the demo's agent.
// Without git on the machine there is no such ticket.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { post } from './clouds.ts';
import type { DaemonAddress } from './daemon.ts';
import type { DemoHome } from './home.ts';

export const AGENT_TICKET = 'TID-140';
const RUN = 'demo-agent';

const files = {
  'src/storage.ts': `/** How many months of winter storage a boat pays for. */
export function storageMonths(arrives: Date, leaves: Date): number {
  return monthsBetween(arrives, leaves) + 1;
}

function monthsBetween(from: Date, to: Date): number {
  return (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
}
`,
  'src/storage.test.ts': `import { expect, test } from 'vitest';
import { storageMonths } from './storage.ts';

const day = (text: string): Date => new Date(\`\${text}T00:00:00Z\`);

test('a boat pays for each month that it uses', () => {
  expect(storageMonths(day('2026-10-05'), day('2026-12-20'))).toBe(3);
});
`,
};

/** The path of git; undefined when the machine has none. */
export function findGit(path = ''): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, 'git'))
    .find((program) => {
      try {
        accessSync(program, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export function makeRepository({ project, path: home }: DemoHome, git: string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const person = ['-c', 'user.name=Mia', '-c', 'user.email=mia@tideline.example'];
  const run = (...words: string[]): void =>
    void execFileSync(git, [...person, ...words], {
      cwd: project,
      env: { HOME: home, PATH: dirname(git) },
      stdio: 'ignore',
    });
  run('init', '--quiet', '--initial-branch=main');
  run('add', 'src');
  run('commit', '--quiet', '--message=Count the months of winter storage');
}

export function startAgentRun(daemon: DaemonAddress, { project }: DemoHome): Promise<void> {
  const body = { tickets: [AGENT_TICKET], project, name: RUN, agent: 'demo-agent', base: 'main', by: 'mia' };
  return post(
    `${daemon.url}/api/runs`,
    { ...daemon.headers, 'content-type': 'application/json' },
    JSON.stringify(body),
  );
}
