// Issues of a repository as tickets, end to end and without any other tracker: the code host's fake behind the real gh,
// a relay, a whole daemon, the command line.
import { ghEnvironment, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { covered, feedWorld } from './feed-world.ts';

async function trackedWorld(mode: 'labels' | 'project') {
  const world = await feedWorld();
  const { codehost, write, home } = world;
  const statuses = ['Todo', 'In Progress', 'In Review', 'Done'];
  const project = mode === 'project' ? codehost.cloud.addProject('acme', statuses) : undefined;
  if (mode === 'labels')
    codehost.cloud.addIssue('acme/web', { title: 'first', labels: statuses.slice(0, 3) });
  const githubProject = project && `acme/${project.number}`;
  const svcConfig = {
    projectKey: 'demo',
    repository: { org: 'acme', name: 'web' },
    monitor: { github: { watchRepos: ['acme/web'] } },
    tracker: { provider: 'github', ...(githubProject && { githubProject }), stateMap: { backlog: null } },
  };
  write('.svc/config.json', { svc: svcConfig });
  const environment = { ...ghEnvironment(codehost, 'token'), SVC_DATA_DIR: `${home}/svc` };
  const svc = async (...words: string[]) => {
    const terminal = { ...testTerminal({ environment }), home, folder: home };
    const code = await runCommandLine(terminal, words);
    return { code, printed: `${terminal.printed()}${terminal.complained()}` };
  };
  const issueOf = (number: number) =>
    codehost.cloud.repoOf('acme/web').issues.find((issue) => issue.number === number);
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
  expect(codehost.cloud.repoOf('acme/web').hooks[0]?.events).toContain('issues');

  const { number } = await codehost.issues.open('acme/web', { title: 'Login', labels: ['bug'] }, 'lee');
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

test('a status that a person set is found by a poll, which a delivery makes earlier', async () => {
  const { codehost, start, project } = await trackedWorld('project');
  if (project === undefined) throw new Error('no project');
  const daemon = await start();
  await until(() => covered(daemon));
  const parent = await codehost.issues.open('acme/web', { title: 'Whole' });
  const child = await codehost.issues.open('acme/web', { title: 'Part' });
  const lines = () => daemon.lines().filter(({ scope }) => scope?.ticket === `GH-${parent.number}`);
  await until(() => lines().length > 0);
  await codehost.issues.setStatus(project, 'acme/web', parent.number, 'In Review');
  await codehost.issues.addSubIssue('acme/web', parent.number, child.number);
  await until(() =>
    lines().some(({ via, detail }) => via === 'poll' && JSON.stringify(detail).includes('In Review')),
  );
  expect(lines().map(({ event }) => event)).toContain('tracker.other');
});
