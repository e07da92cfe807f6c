// Issues of a repository as tickets, end to end and without any other tracker: the code host's fake behind the real gh,
// a relay, a whole daemon, the command line.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  deploymentSending,
  ghEnvironment,
  pullRequestSending,
  runGh,
  statusSending,
  svcProgram,
  until,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { covered, feedWorld } from './feed-world.ts';
import { initWorld, pseudoTerminal } from './init-world.ts';
import { svcInProcess } from './svc-in-process.ts';

const REPO = 'acme/web';
const STATUSES = ['Todo', 'In Progress', 'In Review', 'Done'];

async function trackedWorld(mode: 'labels' | 'no labels' | 'project') {
  const world = await feedWorld();
  const { codehost, write, home } = world;
  const project = mode === 'project' ? codehost.cloud.addProject('acme', STATUSES) : undefined;
  if (mode === 'labels') codehost.cloud.addIssue(REPO, { title: 'first', labels: STATUSES.slice(0, 3) });
  const githubProject = project && `acme/${project.number}`;
  const svcConfig = {
    projectKey: 'demo',
    repository: { org: 'acme', name: 'web' },
    monitor: { github: { watchRepos: [REPO] } },
    tracker: { provider: 'github', ...(githubProject && { githubProject }), stateMap: { backlog: null } },
  };
  write('.svc/config.json', { svc: svcConfig });
  const environment = { ...ghEnvironment(codehost, 'token'), SVC_DATA_DIR: `${home}/svc` };
  const here = svcInProcess({ home, folder: home, environment });
  const svc = async (...words: string[]) => {
    const { code, out, err } = await here(...words);
    return { code, printed: out + err };
  };
  const issueOf = (number: number) =>
    codehost.cloud.repoOf(REPO).issues.find((issue) => issue.number === number);
  const stateOf = (number: number) => {
    const issue = issueOf(number);
    const item = project?.items.find(({ issueId }) => issueId === issue?.id);
    return project === undefined
      ? issue?.labels
      : [project.statuses.find(({ id }) => id === item?.status)?.name];
  };
  return { ...world, svc, project, issueOf, stateOf };
}

test.each(['labels', 'project'] as const)('a ticket from its issue to its end, by %s', async (mode) => {
  const { codehost, start, svc, issueOf, stateOf } = await trackedWorld(mode);
  const resolved = await svc('resolve-tracker-ids');
  expect(resolved.code, resolved.printed).toBe(0);
  expect(resolved.printed).toContain(mode === 'labels' ? 'label:In Progress' : 'status:PVT_');
  const daemon = await start();
  await until(() => covered(daemon));
  expect(codehost.cloud.repoOf(REPO).hooks[0]?.events).toContain('issues');

  const { number } = await codehost.issues.open(REPO, { title: 'Login', labels: ['bug'] }, 'lee');
  const ticket = `GH-${number}`;
  const topics = () =>
    daemon.lines().flatMap(({ event, scope }) => (scope?.ticket === ticket ? [event] : []));
  await until(() => topics().includes('tracker.issue.created'));

  for (const [phase, name, state] of [
    ['inProgress', ticket, 'In Progress'],
    ['inReview', `#${number}`, 'In Review'],
    ['inProgress', `https://codehost.example/acme/web/issues/${number}`, 'In Progress'],
  ] as const) {
    const moved = await svc('ticket', 'phase', phase, name);
    expect(moved.code, moved.printed).toBe(0);
    expect(moved.printed).toContain(`to ${state}`);
    expect(stateOf(number)?.filter((one) => one !== 'bug')).toEqual([state]);
  }
  expect(issueOf(number)?.labels).toContain('bug');

  const done = await svc('ticket', 'phase', 'done', ticket);
  expect(done.code, done.printed).toBe(0);
  expect(issueOf(number)).toMatchObject({ state: 'closed', stateReason: 'completed' });
  await until(() =>
    daemon
      .lines()
      .some(
        ({ event, source, scope }) =>
          event === 'tracker.issue.state_changed' &&
          source === 'codehost.webhook' &&
          scope?.ticket === ticket,
      ),
  );
  const again = await svc('ticket', 'phase', 'done', ticket);
  expect(again.printed).toContain('is already in Done');
});

test('without labels an issue is only open in every phase, and the command that changes it is shown', async () => {
  const { codehost, start, svc } = await trackedWorld('no labels');
  const daemon = await start();
  await until(() => covered(daemon));
  const { number } = await codehost.issues.open(REPO, { title: 'Login' }, 'lee');
  await until(() => daemon.lines().some(({ scope }) => scope?.ticket === `GH-${number}`));
  const moved = await svc('ticket', 'phase', 'inProgress', `GH-${number}`);
  expect(moved.code, moved.printed).toBe(0);
  expect(moved.printed).toContain('gh label create "In Progress"');
  const why = await svc('why', `GH-${number}`);
  expect(why.printed).toContain('No label shows its phase');
});

test('a status that a person set is found by a poll, which a delivery makes earlier', async () => {
  const { codehost, start, project } = await trackedWorld('project');
  if (project === undefined) throw new Error('no project');
  const daemon = await start();
  await until(() => covered(daemon));
  const parent = await codehost.issues.open(REPO, { title: 'Whole' });
  const child = await codehost.issues.open(REPO, { title: 'Part' });
  const lines = () => daemon.lines().filter(({ scope }) => scope?.ticket === `GH-${parent.number}`);
  await until(() => lines().length > 0);
  await codehost.issues.setStatus(project, REPO, parent.number, 'In Review');
  await codehost.issues.addSubIssue(REPO, parent.number, child.number);
  await until(() =>
    lines().some(({ via, detail }) => via === 'poll' && JSON.stringify(detail).includes('In Review')),
  );
  expect(lines().map(({ event }) => event)).toContain('tracker.other');
});

/** An agent that does what a person asks for in one ticket, with real git and the real gh. */
const AGENT = `set -e
svc() { '${process.execPath}' '${svcProgram}' "$@"; }
svc ticket phase implement-plan
echo 4 > count.txt
git add count.txt
git commit --quiet -m "$SVC_TICKET Count to four"
git push --quiet origin HEAD
gh pr create -R "$GH_HOST/${REPO}" -H "$(git branch --show-current)" -B main -t "$SVC_TICKET Count to four" -b 'Counts.'
svc ticket phase create-pr
`;

/** A new user's machine with a clone whose remote git reaches as it would by ssh. */
async function clonedWorld() {
  const world = await initWorld();
  const { home, folder, codehost, env } = world;
  const remote = join(home, 'remotes', REPO + '.git');
  const git = (cwd: string, ...words: string[]) =>
    execFileSync('git', words, { cwd, env, encoding: 'utf8' }).trim();
  const ssh = join(home, 'remotes/ssh');
  mkdirSync(remote, { recursive: true });
  // Called with a host and a command: git-upload-pack 'acme/web.git'.
  writeFileSync(ssh, '#!/bin/sh\ncd "$(dirname "$0")" && eval "$2"\n');
  chmodSync(ssh, 0o755);
  for (const [name, value] of Object.entries({
    'core.sshCommand': ssh,
    'ssh.variant': 'simple',
    'user.name': 'Kim',
    'user.email': 'kim@acme.example',
    'init.defaultBranch': 'main',
  }))
    git(home, 'config', '--global', name, value);
  git(remote, 'init', '--quiet', '--bare');
  git(folder, 'checkout', '--quiet', '-b', 'main');
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Start');
  git(folder, 'push', '--quiet', '-u', 'origin', 'main');
  const gh = async (...words: string[]) => {
    const { code, stdout, stderr } = await runGh(codehost, [...words, '-R', `${env['GH_HOST']}/${REPO}`]);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  };
  return { ...world, remote, git, gh };
}

test.skipIf(!existsSync(pseudoTerminal)).each(['labels', 'project'] as const)(
  'from svc init without any other account to a merged, deployed and closed issue, by %s',
  async (mode) => {
    const world = await clonedWorld();
    const { codehost, tracker, home, folder, here, gh, git, remote } = world;
    const { cloud } = codehost;
    cloud.addDeployment(REPO, { sha: git(folder, 'rev-parse', 'HEAD') });
    const project = mode === 'project' ? cloud.addProject('acme', STATUSES) : undefined;
    if (mode === 'labels') for (const name of STATUSES.slice(1, 3)) await gh('label', 'create', name);
    const { screen, code, untyped } = await world.atTerminal(
      ['init'],
      [
        ['Repository at the code host', '\r'],
        ['Key of the project', '\r'],
        ['Where are your tickets?', '\r'],
        ['Deploy environment', '\r'],
        ['How may events of', '\r'],
      ],
    );
    expect({ code, untyped }, screen).toEqual({ code: 0, untyped: [] });
    expect(screen.match(/◆/g)).toHaveLength(5);
    expect(screen).not.toContain('API token of');
    const run = async (...words: string[]) => {
      const { code: ended, out, err } = await here(...words);
      expect(ended, err).toBe(0);
      return out;
    };
    if (project !== undefined) {
      await run('config', 'set', 'svc.tracker.githubProject', `acme/${project.number}`);
      await run('resolve-tracker-ids', '--force');
    }
    writeFileSync(join(home, 'agent.sh'), AGENT);
    const { svc: config } = world.read('web/.svc/config.json');
    const agentEnv = ['GH_HOST', 'GH_CONFIG_DIR', 'GH_ENTERPRISE_TOKEN', 'SSL_CERT_FILE'];
    const orchestration = { agent: ['/bin/sh', join(home, 'agent.sh'), '${PROMPT}'], agentEnv };
    writeFileSync(join(folder, '.svc/config.json'), JSON.stringify({ svc: { ...config, orchestration } }));

    const number = Number((await gh('issue', 'create', '-t', 'Count to four', '-b', '')).split('/').at(-1));
    const ticket = `GH-${number}`;
    const issue = () => codehost.issues.find(REPO, number).row;
    const shown = () => {
      const item = project?.items.find(({ issueId }) => issueId === issue().id);
      return project ? project.statuses.find(({ id }) => id === item?.status)?.name : issue().labels.join();
    };
    const worker = async () => JSON.parse(await run('board', '--json')).workers[0];
    await run('orchestrate', 'start', `#${number}`, '--name', 'run-1');
    await until(() => shown() === 'In Review');
    const [row] = cloud.repoOf(REPO).pullRequests;
    if (row === undefined) throw new Error('no pull request');
    const sha = git(remote, 'rev-parse', row.branch);
    cloud.changePullRequest(REPO, row.number, { headSha: sha });
    const send = ({ type, payload }: ReturnType<typeof statusSending>) => codehost.emit(REPO, type, payload);
    await send(pullRequestSending(REPO, row, 'opened'));
    await until(async () => (await worker()).status === 'pr-created');
    expect(issue().state).toBe('open');

    git(remote, 'update-ref', 'refs/heads/main', sha);
    cloud.mergePullRequest(REPO, row.number);
    cloud.changePullRequest(REPO, row.number, { mergeSha: sha });
    await send(pullRequestSending(REPO, row, 'closed'));
    await until(async () => (await worker()).status === 'merged');
    expect([issue().state, shown()]).toEqual(['open', 'In Review']);

    const deployment = cloud.addDeployment(REPO, { sha });
    await send(deploymentSending(REPO, deployment));
    cloud.addDeploymentStatus(deployment, 'success');
    await send(statusSending(REPO, deployment));
    const moves = async () => {
      const out = await run(
        'events',
        'list',
        '--ticket',
        ticket,
        '--event',
        'workflow.ticket.state_moved',
        '--json',
      );
      return [...out.matchAll(/"to":"([^"]*)"/g)].map(([, to]) => to);
    };
    await until(async () => (await moves()).includes('Done'));
    expect(await moves()).toEqual(['In Progress', 'In Review', 'Done']);
    expect(issue()).toMatchObject({ state: 'closed', stateReason: 'completed', labels: [] });
    expect(shown()).toBe(mode === 'project' ? 'Done' : '');
    expect(await worker()).toMatchObject({ ticket, status: 'done', deploy: { result: 'success' } });
    expect(tracker.requests()).toEqual([]);
    expect(world.text('.config/svc/config-web.json')).toBeUndefined();
  },
);
