import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testTerminal, testTracker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

const TOKEN = 'lin_api_hush-hush';
const layer1 = `{
    "x-unknown": [1,2,
      3],
    "svc": { "projectKey":"demo" ,
        "tracker": {
            "teamKey": "ABC"
        }
    }
}
`;

type Given = { project?: string; projectFile?: string; secrets?: object | null; apiUrl?: string };

async function checkout(given: Given = {}) {
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  tracker.cloud.addTeam({ key: 'OPS' });
  const environment = { SVC_TRACKER_API_URL: given.apiUrl ?? tracker.url };
  const terminal = testTerminal({ environment });
  const file = join(terminal.home, given.projectFile ?? '.svc/config.json');
  const secretsFile = join(terminal.home, '.config/svc/config-demo.json');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  if (given.project !== '') write(file, given.project ?? layer1);
  if (given.secrets !== null)
    write(
      secretsFile,
      JSON.stringify(given.secrets ?? { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABC' } } }),
    );
  const ids = Object.fromEntries(tracker.cloud.statesOf(team.id).map(({ name, id }) => [name, id]));
  return {
    tracker,
    team,
    ids,
    terminal,
    file,
    secretsFile,
    text: () => readFileSync(file, 'utf8'),
    svc: (...words: string[]) => runCommandLine(terminal, words),
    resolve: (...words: string[]) => runCommandLine(terminal, ['resolve-tracker-ids', ...words]),
  };
}

test('makes exactly one query and writes both ids; every other byte of the file is kept', async () => {
  const { tracker, team, ids, terminal, resolve, svc, file, text } = await checkout();
  expect(await resolve()).toBe(0);
  expect(tracker.calls()).toEqual(['teams']);
  const states = Object.entries(ids).map(([name, id]) => `                "${name}": "${id}"`);
  expect(text()).toBe(
    layer1.replace(
      '"ABC"',
      `"ABC",\n            "teamId": "${team.id}",\n            "stateIds": {\n${states.join(',\n')}\n            }`,
    ),
  );
  expect(Object.keys(ids)[0]).toBe('Backlog');
  expect(terminal.printed()).toContain(`Wrote the ids of the team and of 7 states to ${file}`);
  expect(await svc('config', 'validate')).toBe(1);
  expect(terminal.printed()).not.toMatch(/error|teamId|stateIds":/);
  expect(terminal.printed() + terminal.complained()).not.toContain(TOKEN);
});

test('with both present it makes no call; --force asks again', async () => {
  const { tracker, team, terminal, resolve, text } = await checkout();
  await resolve();
  const before = text();
  tracker.forgetCalls();
  expect(await resolve()).toBe(0);
  expect([tracker.calls(), text()]).toEqual([[], before]);
  expect(terminal.printed()).toContain('The ids are already in');
  tracker.cloud.addState({ teamId: team.id, name: 'QA' });
  expect(await resolve('--force')).toBe(0);
  expect(tracker.calls()).toEqual(['teams']);
  expect(JSON.parse(text()).svc.tracker.stateIds).toHaveProperty('QA');
});

test('with both present no token is needed', async () => {
  const tracker = { teamId: 'team', stateIds: { Todo: 'state' } };
  const { resolve } = await checkout({ secrets: null, project: JSON.stringify({ svc: { tracker } }) });
  expect(await resolve()).toBe(0);
});

test.each([
  ['only the team id', { teamId: 'x' }],
  ['only the states', { stateIds: { Todo: 'x' } }],
  ['both, but null', { teamId: null, stateIds: null }],
  ['no state', { teamId: 'x', stateIds: {} }],
])('with %s it asks', async (_, cached) => {
  const project = JSON.stringify({ svc: { projectKey: 'demo', tracker: { teamKey: 'ABC', ...cached } } });
  const { tracker, team, ids, resolve, text } = await checkout({ project });
  expect(await resolve()).toBe(0);
  expect(tracker.calls()).toEqual(['teams']);
  expect(JSON.parse(text()).svc.tracker).toEqual({ teamKey: 'ABC', teamId: team.id, stateIds: ids });
});

test('--json', async () => {
  const { team, ids, terminal, resolve, file } = await checkout();
  expect(await resolve('--json')).toBe(0);
  expect(JSON.parse(terminal.printed())).toEqual({
    asked: true,
    file,
    teamId: team.id,
    stateIds: ids,
    unknown: [],
  });
});

test('a phase whose state the team does not have is a warning', async () => {
  const tracker = { teamKey: 'ABC', stateMap: { done: 'Shipped', canceled: null } };
  const { terminal, resolve } = await checkout({
    project: JSON.stringify({ svc: { projectKey: 'demo', tracker } }),
  });
  expect(await resolve()).toBe(0);
  expect(terminal.complained()).toMatch(/^warning: svc\.tracker\.stateMap\.done is "Shipped"/);
});

test('the vendor’s name in the file is kept', async () => {
  const project = '{"svc": {"projectKey": "demo", "linear": {"teamKey": "ABC"}}}';
  const { terminal, resolve, svc, text, team } = await checkout({ project });
  expect(await resolve()).toBe(0);
  expect(JSON.parse(text()).svc).toMatchObject({ linear: { teamKey: 'ABC', teamId: team.id } });
  expect(await svc('config', 'validate')).toBe(0);
  expect(terminal.complained()).toBe('');
});

test('.claude/config.json is written where that is the project file, and keeps its mode', async () => {
  const { resolve, file, text } = await checkout({ projectFile: '.claude/config.json' });
  expect(await resolve()).toBe(0);
  expect(JSON.parse(text()).svc.tracker.stateIds).toHaveProperty('Done');
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

describe('a missing or wrong value is reported with its remedy, and nothing is written', () => {
  test('no token', async () => {
    const { tracker, terminal, resolve, secretsFile, text } = await checkout({ secrets: null });
    expect(await resolve()).toBe(4);
    expect(terminal.complained()).toContain(secretsFile);
    expect(terminal.complained()).toContain('svc config set svc.tracker.apiToken - < token.txt');
    expect([tracker.calls(), text()]).toEqual([[], layer1]);
  });

  test('no team key', async () => {
    const project = '{"svc": {"projectKey": "demo", "project": {"ticketPrefix": "ABC"}}}';
    const { tracker, terminal, resolve, file } = await checkout({ secrets: {}, project });
    expect(await resolve()).toBe(4);
    expect(terminal.complained()).toContain(file);
    expect(terminal.complained()).toContain('svc config set svc.tracker.teamKey ABC');
    expect(tracker.calls()).toEqual([]);
  });

  test('no project', async () => {
    const { terminal, resolve, file } = await checkout({ project: '' });
    expect(await resolve()).toBe(4);
    expect(terminal.complained()).toContain('No project here');
    expect(existsSync(file)).toBe(false);
  });

  test('a wrong token', async () => {
    const wrong = { svc: { tracker: { apiToken: 'lin_api_old', teamKey: 'ABC' } } };
    const { terminal, resolve, text } = await checkout({ secrets: wrong });
    expect(await resolve()).toBe(6);
    expect(terminal.complained()).toContain('did not accept the API token');
    expect(terminal.complained()).toContain('svc config set svc.tracker.apiToken -');
    expect(terminal.complained()).not.toContain('lin_api_old');
    expect(text()).toBe(layer1);
  });

  test('a team that does not exist: those that do are listed', async () => {
    const secrets = { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABD' } } };
    const { terminal, resolve, text } = await checkout({
      secrets,
      project: layer1.replace('"ABC"', '"ABD"'),
    });
    expect(await resolve()).toBe(4);
    expect(terminal.complained()).toContain('no team with the key ABD. Its teams: ABC, OPS.');
    expect(terminal.complained()).toContain('svc config set svc.tracker.teamKey ABC');
    expect(text()).toBe(layer1.replace('"ABC"', '"ABD"'));
  });

  test('a tracker that is down; the next run completes it', async () => {
    const { tracker, terminal, resolve, text } = await checkout();
    tracker.failNext({ kind: 'server-error', status: 503 });
    expect(await resolve()).toBe(6);
    expect(terminal.complained()).toContain('is unavailable: it answered HTTP 503');
    expect(text()).toBe(layer1);
    expect(await resolve()).toBe(0);
  });

  test('an address to which no token may go', async () => {
    const { terminal, resolve } = await checkout({ apiUrl: 'http://tracker.example/graphql' });
    expect(await resolve()).toBe(2);
    expect(terminal.complained()).toContain('SVC_TRACKER_API_URL must be an https URL');
  });
});
