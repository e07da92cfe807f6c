// The environment of a run: a bare repository as the remote, a checkout of it as the project, and a scripted agent.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { usualTeamStates } from '../packages/testkit/src/tracker/tickets.ts';
import { openWorld } from './world.ts';

export const REPO = 'acme/web';
export const RUN = 'run-1';
export const MOST_AGENTS = 3;
/** After this time without output an agent counts as hanging; a working one prints something every second. */
const STALL_SEC = 10;
/** Waits are in seconds instead of minutes; limits are as usual. */
const timings = { revivalDelaysSec: [3, 4, 5], settleSec: 4, claimSec: 900, afterEndSec: 120 };

export type OrchestrateWorld = Awaited<ReturnType<typeof openOrchestrateWorld>>;

export async function openOrchestrateWorld(provider: string) {
  const environment = { SVC_ORCHESTRATE_TIMINGS: JSON.stringify(timings) };
  const world = await openWorld('chaos-orchestrate', environment, provider);
  const { home, codehost, tickets } = world;
  const root = home.home;
  const stage = join(root, 'stage');
  mkdirSync(stage);
  codehost.cloud.addRepo(REPO);
  const team = tickets.addTeam('ABC', { repo: REPO, states: usualTeamStates });
  if (team.secrets) world.configure('.config/svc/config-web.json', team.secrets);
  const { project, remote, sha } = world.makeProject(projectConfig(), projectFiles);
  codehost.cloud.addCommit(REPO, sha);

  function projectConfig(): object {
    const agent = join(import.meta.dirname, 'orchestrate-agent.ts');
    return {
      projectKey: 'web',
      project: { ticketPrefix: 'ABC' },
      repository: { org: 'acme', name: 'web' },
      tracker: team.project.tracker,
      monitor: { github: { watchRepos: [REPO] } },
      deploy: { [REPO]: { skipDeployVerification: false, acceptDescendants: false, timeoutSec: 600 } },
      worktree: { setup: ['printf "%s" "${TICKET_ID}" > .set-up'] },
      orchestration: {
        maxParallel: MOST_AGENTS,
        agent: [process.execPath, agent, stage, '${TICKET_ID}', '${BRANCH_NAME}', '${PROMPT}'],
        hooks: { setup: ['test -f .set-up'], teardown: ['test -f .set-up'] },
        stallAfterSec: STALL_SEC,
        testCommand: `'${process.execPath}' run-tests.js`,
      },
    };
  }

  return { ...world, root, project, remote, stage };
}

/** A repository that runs only the tests of its last commit: one bad merge does not affect the next. */
const projectFiles = {
  '.gitignore': '.set-up\n.svc/.workflow-context.json\n',
  'package.json': '{ "type": "module" }\n',
  'run-tests.js': `import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const words = ['diff', '--name-only', 'HEAD~1', 'HEAD', '--', 'test'];
const names = execFileSync('git', words, { encoding: 'utf8' }).split('\\n');
for (const name of names) if (name !== '' && existsSync(name)) await import(resolve(name));
`,
  'test/base.test.js': `import assert from 'node:assert';
import test from 'node:test';

test('the base', () => {
  assert.equal('base'.length, 4);
});
`,
};
