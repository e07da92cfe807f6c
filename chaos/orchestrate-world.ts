// The world of a run: a home, a bare repository that is the remote and a checkout of it that is the project, the
// code host behind HTTPS with the real client program, the issue tracker, and a daemon that is killed and started
// again.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ghEnvironment, startFakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';

import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createDaemonHome } from '../packages/testkit/src/daemon/start-daemon.ts';
import type { Random } from '../packages/testkit/src/random.ts';
import { startFakeTracker } from '../packages/testkit/src/tracker/fake-tracker.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { createWorkersDaemon, type Said } from './workers-daemon.ts';

export const REPO = 'acme/web';
export const RUN = 'run-1';
export const MOST_AGENTS = 3;
/** Silent for so long, an agent counts as hanging; one that works says something every second. */
const STALL_SEC = 10;
/** What is waited for, in seconds instead of minutes; what is only a limit, as usual. */
const patience = { revivalDelaysSec: [3, 4, 5], settleSec: 4, claimSec: 900, afterEndSec: 120 };

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld(random: Random) {
  const home = createDaemonHome('chaos-orchestrate');
  const cloudFolder = mkdtempSync(join(tmpdir(), 'svc-chaos-codehost-'));
  const codehost = await startFakeCodehost({ folder: cloudFolder });
  const tracker = await startFakeTracker();
  codehost.addToken('token');
  codehost.setQuota('core', { limit: 1_000_000, remaining: 1_000_000 });
  codehost.cloud.addRepo(REPO);
  tracker.addToken('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const root = realpathSync(home.home);
  const project = join(root, 'web');
  const remote = join(root, 'web.git');
  const stage = join(root, 'stage');
  mkdirSync(stage);
  const git = (folder: string, ...words: string[]): string =>
    execFileSync('git', ['-C', folder, ...words], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: root,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'Kim',
        GIT_AUTHOR_EMAIL: 'kim@example.com',
        GIT_COMMITTER_NAME: 'Kim',
        GIT_COMMITTER_EMAIL: 'kim@example.com',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const write = (path: string, text: string): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('.config/svc/config.json', JSON.stringify({ svc: { projects: [project] } }));
  write(
    '.config/svc/config-web.json',
    JSON.stringify({ svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ABC' } } }),
  );
  makeProject();

  /** A repository whose tests are those of its last commit: one bad merge does not spoil the next. */
  function makeProject(): void {
    git(root, 'init', '--quiet', '--bare', '-b', 'main', remote);
    mkdirSync(project);
    git(project, 'init', '--quiet', '-b', 'main');
    git(project, 'remote', 'add', 'origin', remote);
    write('web/.svc/config.json', JSON.stringify({ svc: projectConfig() }));
    write('web/.gitignore', '.set-up\n.svc/.workflow-context.json\n');
    write('web/package.json', '{ "type": "module" }\n');
    write('web/run-tests.js', TEST_PROGRAM);
    write('web/test/base.test.js', BASE_TEST);
    git(project, 'add', '--all');
    git(project, 'commit', '--quiet', '-m', 'The beginning');
    git(project, 'push', '--quiet', '-u', 'origin', 'main');
    codehost.cloud.addCommit(REPO, git(project, 'rev-parse', 'HEAD'));
  }

  function projectConfig(): object {
    const agent = join(import.meta.dirname, 'orchestrate-agent.ts');
    return {
      projectKey: 'web',
      project: { ticketPrefix: 'ABC' },
      repository: { org: 'acme', name: 'web' },
      tracker: { teamKey: 'ABC', teamId: team.id },
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

  const daemon = createWorkersDaemon({
    home,
    port: await freePort(random),
    environment: {
      ...ghEnvironment(codehost, 'token'),
      HOME: home.home,
      SVC_TRACKER_API_URL: tracker.url,
      SVC_ORCHESTRATE_PATIENCE: JSON.stringify(patience),
    },
  });

  return {
    home,
    root,
    project,
    remote,
    stage,
    codehost,
    tracker,
    daemon,
    git,
    team: team.id,
    /** The command line, as a person in the project uses it. */
    svc: (...words: string[]): Promise<Said> =>
      new Promise((resolve) => {
        const env = { PATH: process.env['PATH'], HOME: home.home, SVC_DATA_DIR: home.dataDir };
        const command = [join(home.home, 'dist/svc.js'), ...words];
        execFile(process.execPath, command, { cwd: project, env, timeout: WAIT_MS }, (error, out, wrong) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
          resolve({ code, printed: (out + wrong).trim() });
        });
      }),
    newTicket: (title: string): string =>
      tracker.cloud.identifierOf(tracker.cloud.addIssue({ teamId: team.id, title })),
    stateOf(ticket: string): string {
      const { stateId } = tracker.cloud.issueOf(ticket);
      return tracker.cloud.states.find(({ id }) => id === stateId)?.name ?? 'none';
    },
    async close(): Promise<void> {
      await daemon.kill();
      await codehost.close();
      await tracker.close();
      home.remove();
      rmSync(cloudFolder, { recursive: true, force: true });
    },
  };
}

const TEST_PROGRAM = `import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const words = ['diff', '--name-only', 'HEAD~1', 'HEAD', '--', 'test'];
const names = execFileSync('git', words, { encoding: 'utf8' }).split('\\n');
for (const name of names) if (name !== '' && existsSync(name)) await import(resolve(name));
`;

const BASE_TEST = `import assert from 'node:assert';
import test from 'node:test';

test('the base', () => {
  assert.equal('base'.length, 4);
});
`;
