// `svc ticket phase`, from the CLI to the tracker: every key of the state map moves a ticket.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, testTerminal, testTracker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { startInProcess } from './in-process-daemon.ts';

async function trackedProject(stateMap: object = {}) {
  const home = temporaryFolder();
  const write = (path: string, value: object): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), JSON.stringify(value), { mode: 0o600 });
  };
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ENG' });
  const issue = tracker.cloud.addIssue({ teamId: team.id, title: 'Login', number: 42 });
  const project = { teamKey: 'ENG', teamId: team.id, stateMap };
  write('.svc/config.json', { svc: { projectKey: 'demo', tracker: project } });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ENG' } } });
  await startInProcess({ home, environment: { SVC_TRACKER_API_URL: tracker.url } });
  const terminal = { ...testTerminal(), home, folder: home };
  return {
    terminal,
    cloud: tracker.cloud,
    team,
    issue,
    phase: (name: string) => runCommandLine(terminal, ['ticket', 'phase', name, 'ENG-42']),
    state: () => tracker.cloud.statesOf(team.id).find(({ id }) => id === issue.stateId)?.name,
  };
}

test('the phases one after the other, forth and back', async () => {
  const { terminal, phase, state } = await trackedProject();
  for (const [name, expected] of [
    ['todo', 'Todo'],
    ['research', 'In Progress'],
    ['backlog', 'Backlog'],
    ['planning', 'In Progress'],
    ['inReview', 'In Review'],
    ['inProgress', 'In Progress'],
    ['done', 'Done'],
    ['todo', 'Todo'],
    ['backlog', 'Backlog'],
    ['canceled', 'Canceled'],
  ] as const) {
    expect(await phase(name), terminal.complained()).toBe(0);
    expect(state()).toBe(expected);
  }
});

test('a running skill moves its ticket to the state of its own phase, and a person cancels', async () => {
  const { terminal, phase, state } = await trackedProject({
    research: 'Todo',
    planning: 'In Review',
    inProgress: 'Backlog',
    inReview: 'Done',
    done: 'In Progress',
  });
  for (const [name, expected] of [
    ['research-codebase', 'Todo'],
    ['create-plan', 'In Review'],
    ['implement-plan', 'Backlog'],
    ['create-pr', 'Done'],
    ['merge-pr', 'In Progress'],
    ['describe-pr', 'Done'],
    ['canceled', 'Canceled'],
  ] as const) {
    expect(await phase(name), terminal.complained()).toBe(0);
    expect(state()).toBe(expected);
  }
});

test('their states are those of the state map, and null moves nothing', async () => {
  const { terminal, phase, state } = await trackedProject({ todo: 'In Review', backlog: null });
  expect(await phase('todo')).toBe(0);
  expect(state()).toBe('In Review');
  expect(await phase('backlog')).toBe(0);
  expect(state()).toBe('In Review');
  expect(terminal.printed()).toContain('svc.tracker.stateMap.backlog is null');
});

describe.each([
  ['research-codebase', 'research'],
  ['create-plan', 'planning'],
  ['implement-plan', 'inProgress'],
  ['create-pr', 'inReview'],
  ['describe-pr', 'inReview'],
  ['merge-pr', 'done'],
  ['canceled', 'canceled'],
])('%s runs', (named, key) => {
  test('the ticket moves to the state of its phase, from any state', async () => {
    const { terminal, phase, state, cloud, team, issue } = await trackedProject({ [key]: 'Its own' });
    cloud.addState({ teamId: team.id, name: 'Its own' });
    for (const { id, name } of cloud.statesOf(team.id).filter((one) => one.name !== 'Its own')) {
      cloud.changeIssue(issue.id, { stateId: id });
      expect(await phase(named), terminal.complained()).toBe(0);
      expect(state(), `from ${name}`).toBe('Its own');
    }
  });

  test('the ticket stays where it is if its phase has no state', async () => {
    const { phase, state } = await trackedProject({ [key]: null });
    expect(await phase(named)).toBe(0);
    expect(state()).toBe('Backlog');
  });
});
