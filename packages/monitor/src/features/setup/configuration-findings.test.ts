import { expect, test } from 'vitest';
import type { SetupPart } from '../../kernel/check/finding.ts';
import { resolveConfig } from '../configure.ts';
import { configurationFindings } from './configuration-findings.ts';

const file = '/app/.svc/config.json';
const place = { folder: '/app', file, lookedAt: [file] };

function findings(svc: unknown, where = place) {
  const layers = ['project'] as const;
  const resolution = resolveConfig(
    [{ path: where.file, layers, reads: layers, data: { svc }, lineOf: () => 7 }],
    {},
  );
  return configurationFindings(where, resolution);
}

function about(part: SetupPart, svc: unknown) {
  return findings(svc)
    .filter((finding) => finding.part === part)
    .map(({ grade, what, remedy }) => [grade, what, remedy]);
}

const whole = {
  projectKey: 'app',
  project: { ticketPrefix: 'ABC' },
  tracker: {
    teamKey: 'ABC',
    teamId: 't-1',
    stateMap: { canceled: null },
    stateIds: { Backlog: '1', Todo: '2', 'In Progress': '3', 'In Review': '4', Done: '5' },
  },
};

test('a complete configuration is one ok for each check', () => {
  expect(findings(whole).map(({ part, grade, what }) => [part, grade, what])).toEqual([
    ['project-file', 'ok', file],
    ['configuration', 'ok', 'no problems in the configuration files'],
    ['project-key', 'ok', 'app'],
    ['ticket-prefix', 'ok', 'ABC, equal to the team key'],
    [
      'state-map',
      'ok',
      'backlog: Backlog, todo: Todo, research: In Progress, planning: In Progress, inProgress: In Progress, inReview: In Review, done: Done, canceled: skipped',
    ],
    ['state-ids', 'ok', 'the team and 5 states are cached'],
  ]);
});

test('the deprecated location works, with a hint how to move it', () => {
  const older = '/app/.claude/config.json';
  expect(findings(whole, { ...place, file: older })[0]).toMatchObject({
    grade: 'ok',
    what: `${older}, a deprecated location that still works`,
    remedy: expect.stringContaining('git mv .claude/config.json .svc/config.json'),
  });
});

test('without a project file that is the only error: missing values are not reported', () => {
  const nowhere = { folder: undefined, file, lookedAt: [file, '/app/.claude/config.json'] };
  const found = configurationFindings(nowhere, resolveConfig([], {}));
  expect(found.map(({ part, grade }) => [part, grade])).toEqual([
    ['project-file', 'broken'],
    ['configuration', 'ok'],
  ]);
  expect(found[0]?.what).toContain('/app/.claude/config.json');
});

test('the same for a file that cannot be read', () => {
  const problem = {
    severity: 'error',
    code: 'not-json',
    file,
    line: 3,
    key: '',
    message: 'is not valid JSON.',
  } as const;
  const found = configurationFindings(place, { values: [], problems: [problem] });
  expect(found.map(({ part, grade }) => [part, grade])).toEqual([
    ['project-file', 'ok'],
    ['configuration', 'broken'],
  ]);
  expect(found[1]).toMatchObject({
    what: `${file}:3: is not valid JSON.`,
    remedy: 'Fix the file, then run: svc config validate',
    problem: { code: 'not-json', file, line: 3, key: '' },
  });
});

test.each<[string, SetupPart, unknown, unknown[]]>([
  [
    'a wrong type: file, key, expected, found',
    'configuration',
    { feedback: { autoFile: 'yes' } },
    [
      'broken',
      `${file}:7: svc.feedback.autoFile: expected true or false, found string "yes".`,
      'See the allowed values: svc config explain svc.feedback.autoFile',
    ],
  ],
  [
    'an unknown key is a warning',
    'configuration',
    { feedbak: {} },
    ['warning', `${file}:7: svc.feedbak: unknown key.`, 'Did you mean feedback?'],
  ],
  [
    'no project key',
    'project-key',
    {},
    ['broken', expect.stringContaining('is not set'), 'Run: svc config set svc.projectKey <name>'],
  ],
  [
    'an invalid project key',
    'project-key',
    { projectKey: '../x' },
    [
      'broken',
      expect.stringContaining('expected a plain name'),
      'See the allowed values: svc config explain svc.projectKey',
    ],
  ],
  [
    'prefix and team differ',
    'ticket-prefix',
    { project: { ticketPrefix: 'ABC' }, tracker: { teamKey: 'XYZ' } },
    [
      'broken',
      `${file}:7: svc.tracker.teamKey: is "XYZ", but svc.project.ticketPrefix is "ABC"; they must be equal.`,
      'Run: svc config set svc.project.ticketPrefix "XYZ"',
    ],
  ],
  [
    'a prefix without a team',
    'ticket-prefix',
    { project: { ticketPrefix: 'ABC' } },
    ['warning', expect.stringContaining('teamKey is not set'), 'Run: svc config set svc.tracker.teamKey ABC'],
  ],
  [
    'a team without a prefix, which goes into a command only if it is plain',
    'ticket-prefix',
    { tracker: { teamKey: '$(id)' } },
    [
      'warning',
      expect.stringContaining('ticketPrefix is not set'),
      'Run: svc config set svc.project.ticketPrefix <KEY>',
    ],
  ],
  [
    'neither prefix nor team',
    'ticket-prefix',
    {},
    ['warning', expect.stringContaining('neither'), expect.stringContaining('svc.tracker.teamKey <KEY>')],
  ],
  [
    'a phase that does not exist',
    'state-map',
    { tracker: { stateMap: { reserch: 'Doing' } } },
    ['warning', `${file}:7: svc.tracker.stateMap.reserch: unknown key.`, 'Did you mean research?'],
  ],
  [
    'a state that is not a name, under the vendor’s key',
    'state-map',
    { linear: { stateMap: { done: 5 } } },
    [
      'broken',
      `${file}:7: svc.linear.stateMap.done: expected a non-empty string, or null, found number 5.`,
      'See the allowed values: svc config explain svc.linear.stateMap.done',
    ],
  ],
  [
    'a state that the team does not have',
    'state-map',
    {
      tracker: {
        ...whole.tracker,
        stateMap: { done: 'Shipped', canceled: null },
      },
    },
    [
      'warning',
      'svc.tracker.stateMap.done is "Shipped", but the team has no such state',
      expect.stringContaining('svc resolve-tracker-ids --force'),
    ],
  ],
  [
    'ids that are not cached',
    'state-ids',
    { tracker: { teamKey: 'ABC' } },
    ['warning', expect.stringContaining('states are not cached'), 'Run: svc resolve-tracker-ids'],
  ],
  [
    'states without their team',
    'state-ids',
    { tracker: { teamKey: 'ABC', stateIds: { Done: '5' } } },
    ['warning', expect.stringContaining('team are not cached'), 'Run: svc resolve-tracker-ids'],
  ],
  ['no ids without a team', 'state-ids', {}, ['ok', 'not cached; no team is configured', null]],
])('%s', (_, part, svc, expected) => {
  expect(about(part, svc)).toEqual([expected]);
});

test('a secret in the project file is reported without its text', () => {
  const token = 'lin_api_0123456789abcdefghijklmnopqrstuvwxyzABCD';
  const found = findings({ tracker: { apiToken: token } });
  expect(found.some(({ part, grade }) => part === 'configuration' && grade === 'broken')).toBe(true);
  expect(JSON.stringify(found)).not.toContain(token);
});
