import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

type Given = {
  project?: unknown;
  secrets?: unknown;
  global?: unknown;
  environment?: Record<string, string>;
  input?: string;
};

function machine(given: Given = {}) {
  const terminal = testTerminal(given);
  const write = (path: string, value: unknown) => {
    mkdirSync(join(terminal.home, path, '..'), { recursive: true });
    writeFileSync(
      join(terminal.home, path),
      typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    );
  };
  if (given.project !== undefined) write('.svc/config.json', given.project);
  if (given.secrets !== undefined) write('.config/svc/config-demo.json', given.secrets);
  if (given.global !== undefined) write('.config/svc/config.json', given.global);
  return {
    terminal,
    svc: (...words: string[]) => runCommandLine(terminal, words),
    path: (name: string) => join(terminal.home, name),
    read: (name: string) => readFileSync(join(terminal.home, name), 'utf8'),
  };
}

test('the project file, the secrets file that its key names and the global file are read', async () => {
  const { terminal, svc, path } = machine({
    project: { svc: { projectKey: 'demo', repository: { name: 'shop' } } },
    secrets: { svc: { tracker: { defaultTeam: 'ABC' } }, ai: { model: 'small' } },
    global: { archive: { root: '/srv' } },
  });
  writeFileSync(path('.config/svc/config-other.json'), '{"svc":{"tracker":{"defaultTeam":"XYZ"}}}');
  expect(await svc('config', 'show', '--json')).toBe(0);
  const { values, problems } = JSON.parse(terminal.printed());
  expect(problems).toEqual([]);
  for (const [key, value, file] of [
    ['svc.repository.name', 'shop', '.svc/config.json'],
    ['svc.tracker.defaultTeam', 'ABC', '.config/svc/config-demo.json'],
    ['ai.model', 'small', '.config/svc/config-demo.json'],
    ['archive.root', '/srv', '.config/svc/config.json'],
  ] as const) {
    expect(values[key].value).toBe(value);
    expect(values[key].source).toContain(path(file));
  }
});

test('a project file that is a link to a file of the user is neither read nor written', async () => {
  const { terminal, path, read } = machine({ global: { svc: { projects: [] } } });
  const before = read('.config/svc/config.json');
  mkdirSync(path('app/.svc'), { recursive: true });
  symlinkSync(path('.config/svc/config.json'), path('app/.svc/config.json'));
  const inApp = { ...terminal, folder: path('app') };
  expect(await runCommandLine(inApp, ['config', 'validate'])).toBe(1);
  expect(terminal.complained() + terminal.printed()).toContain('is a link to a file outside the checkout');
  expect(await runCommandLine(inApp, ['config', 'set', 'svc.projectKey', 'evil'])).toBe(6);
  expect(read('.config/svc/config.json')).toBe(before);
});

test('a project without a secrets file has the secrets of the global file', async () => {
  const global = { svc: { tracker: { defaultTeam: 'ALL' } } };
  const project = { svc: { projectKey: 'demo' } };
  const without = machine({ project, global });
  await without.svc('config', 'explain', 'svc.tracker.defaultTeam');
  expect(without.terminal.printed()).toContain('svc.tracker.defaultTeam = "ALL"');
  const beside = machine({ project, global, secrets: {} });
  await beside.svc('config', 'explain', 'svc.tracker.defaultTeam');
  expect(beside.terminal.printed()).toContain('svc.tracker.defaultTeam = (not set)');
});

test('explain shows value, source, default and what else was checked', async () => {
  const { terminal, svc, path } = machine({
    project: { svc: { tracker: { stateMap: { research: null } } } },
  });
  expect(await svc('config', 'explain', 'svc.tracker.stateMap.research')).toBe(0);
  expect(terminal.printed().split('\n')).toEqual([
    'svc.tracker.stateMap.research = null',
    '  State set when research-codebase runs',
    `  source     ${path('.svc/config.json')}:5`,
    '  default    "In Progress"',
    '  expects    a non-empty string, or null',
    `  looked at  ${path('.svc/config.json')}:5: null`,
  ]);
});

test('explain of a group explains each key, of an unknown key suggests one', async () => {
  const { terminal, svc } = machine();
  expect(await svc('config', 'explain', 'otel', '--json')).toBe(0);
  expect(JSON.parse(terminal.printed())).toHaveLength(3);
  expect(await svc('config', 'explain', 'svc.tracker.teamKye')).toBe(2);
  expect(terminal.complained()).toContain('Did you mean svc.tracker.teamKey?');
});

test('show has what is set; --all also what has its default', async () => {
  const { terminal, svc } = machine({ project: { svc: { projectKey: 'demo' } } });
  expect(await svc('config', 'show')).toBe(0);
  expect(terminal.printed()).toContain('svc.projectKey');
  expect(terminal.printed()).not.toContain('svc.orchestration.maxParallel');
  expect(terminal.printed()).not.toContain('(not set)');
  expect(terminal.complained()).toContain('svc config show --all');
  expect(await svc('config', 'show', '--all')).toBe(0);
  expect(terminal.printed()).toContain('(not set)');
  expect(terminal.printed()).toContain('svc.orchestration.maxParallel');
});

test('secrets are masked everywhere', async () => {
  const { terminal, svc } = machine({
    project: { svc: { projectKey: 'demo' } },
    secrets: { svc: { tracker: { apiToken: 'hush-hush', teamKey: 'ABC' } } },
  });
  for (const words of [
    ['show'],
    ['show', '--json'],
    ['explain', 'svc.tracker.apiToken'],
    ['explain', 'svc.tracker', '--json'],
  ]) {
    expect(await svc('config', ...words)).toBe(0);
  }
  expect(terminal.printed()).toContain('********');
  expect(terminal.printed() + terminal.complained()).not.toContain('hush-hush');
});

describe('the secrets file names the team of its token', () => {
  const project = { svc: { projectKey: 'demo', tracker: { teamKey: 'ABC' } } };
  test.each([
    ['both, as the project file has it', { apiToken: 'x', teamKey: 'ABC' }, null],
    ['neither', {}, null],
    [
      'no team',
      { apiToken: 'x' },
      /svc\.tracker\.apiToken: is set, but svc\.tracker\.teamKey is not in this file.*svc config set --layer secrets svc\.tracker\.teamKey ABC/,
    ],
    [
      'no token',
      { teamKey: 'ABC' },
      /svc\.tracker\.teamKey: is set, but svc\.tracker\.apiToken is not in this file.*svc config set svc\.tracker\.apiToken -/,
    ],
    [
      'another team',
      { apiToken: 'x', teamKey: 'XYZ' },
      /config-demo\.json:\d+: svc\.tracker\.teamKey: is "XYZ", but in the project file it is "ABC"; they must be equal/,
    ],
  ])('%s', async (_, tracker, problem) => {
    const { terminal, svc } = machine({ project, secrets: { svc: { tracker } } });
    expect(await svc('config', 'validate')).toBe(problem === null ? 0 : 1);
    expect(terminal.printed()).toMatch(problem ?? /^The configuration is valid/);
  });

  test('the global file, which stands in for it, serves several teams', async () => {
    const { svc } = machine({ project, global: { svc: { tracker: { apiToken: 'x' } } } });
    expect(await svc('config', 'validate')).toBe(0);
  });

  test('the remedy makes it valid; removing the token removes the team too', async () => {
    const { svc, read } = machine({ project, secrets: { svc: { tracker: { apiToken: 'x' } } } });
    expect(await svc('config', 'set', '--layer', 'secrets', 'svc.tracker.teamKey', 'ABC')).toBe(0);
    expect(await svc('config', 'validate')).toBe(0);
    expect(await svc('config', 'unset', 'svc.tracker.apiToken')).toBe(0);
    expect(await svc('config', 'validate')).toBe(0);
    expect(read('.config/svc/config-demo.json')).not.toContain('ABC');
  });

  test('a new team of the project is the new team of its secrets file', async () => {
    const secrets = { svc: { tracker: { apiToken: 'x', teamKey: 'ABC' } } };
    const { svc, read } = machine({ project, secrets });
    expect(await svc('config', 'set', 'svc.tracker.teamKey', 'XYZ')).toBe(0);
    expect(await svc('config', 'validate')).toBe(0);
    expect(JSON.parse(read('.config/svc/config-demo.json')).svc.tracker.teamKey).toBe('XYZ');
  });

  test('a token that is stored before there is a team is stored, with a warning', async () => {
    const { terminal, svc } = machine({ project: { svc: { projectKey: 'demo' } }, input: 'x' });
    expect(await svc('config', 'set', 'svc.tracker.apiToken', '-')).toBe(0);
    expect(terminal.complained()).toMatch(/^warning: .*svc\.tracker\.teamKey is not in this file/);
  });
});

test('a secret is never read from the arguments, and its file is mode 600', async () => {
  const { terminal, svc, path, read } = machine({
    project: { svc: { projectKey: 'demo', tracker: { teamKey: 'ABC' } } },
    input: 'hush-hush\n',
  });
  expect(await svc('config', 'set', 'svc.tracker.apiToken', 'hush-hush')).toBe(2);
  expect(terminal.complained()).toContain('standard input');
  expect(existsSync(path('.config/svc/config-demo.json'))).toBe(false);
  expect(await svc('config', 'set', 'svc.tracker.apiToken', '-')).toBe(0);
  expect(JSON.parse(read('.config/svc/config-demo.json'))).toEqual({
    svc: { tracker: { apiToken: 'hush-hush', teamKey: 'ABC' } },
  });
  expect(await svc('config', 'validate')).toBe(0);
  expect(statSync(path('.config/svc/config-demo.json')).mode & 0o777).toBe(0o600);
  expect(statSync(path('.config/svc')).mode & 0o777).toBe(0o700);
});

test('a file with secrets that others can read is closed when it is written', async () => {
  const { svc, path } = machine({ global: {} });
  expect(await svc('config', 'set', 'otel.enabled', 'true', '--layer', 'global')).toBe(0);
  expect(statSync(path('.config/svc/config.json')).mode & 0o777).toBe(0o600);
});

test('set keeps unknown keys, order and format; unset reverts it', async () => {
  const project = '{\n    "z": 1,\n    "svc": { "unknown": [1,2], "projectKey": "demo" }\n}\n';
  const { svc, read } = machine({ project });
  expect(await svc('config', 'set', 'svc.orchestration.maxParallel', '5')).toBe(0);
  expect(read('.svc/config.json')).toBe(
    project.replace('"demo" }', '"demo", "orchestration": {"maxParallel":5} }'),
  );
  expect(await svc('config', 'unset', 'svc.orchestration.maxParallel')).toBe(0);
  expect(await svc('config', 'unset', 'svc.orchestration.maxParallel')).toBe(1);
});

test('a linked configuration file stays a link', async () => {
  const { svc, path, read } = machine();
  mkdirSync(path('dotfiles'));
  mkdirSync(path('.config/svc'), { recursive: true });
  writeFileSync(path('dotfiles/config.json'), '{}');
  symlinkSync(path('dotfiles/config.json'), path('.config/svc/config.json'));
  expect(await svc('config', 'set', 'archive.retention.days', '30')).toBe(0);
  expect(JSON.parse(read('dotfiles/config.json'))).toEqual({ archive: { retention: { days: 30 } } });
});

test.each([
  ['an unknown key', ['svc.nothing', '1'], 'Unknown configuration key'],
  ['a group', ['svc.tracker', '1'], 'group of keys'],
  ['a wrong value', ['svc.orchestration.maxParallel', 'many'], 'expected a whole number'],
  ['a wrong file', ['otel.enabled', 'true', '--layer', 'project'], 'is not read from the project file'],
  [
    'a secret where a name belongs',
    ['svc.monitor.github.webhookSecretEnv', 'ab'.repeat(32)],
    'environment variable',
  ],
  ['a secret look', ['svc.repository.name', `ghp_${'a1'.repeat(18)}`], 'looks like a code-host token'],
])('set refuses %s and touches nothing', async (_, words, message) => {
  const { terminal, svc, path } = machine();
  expect(await svc('config', 'set', ...words)).toBe(2);
  expect(terminal.complained()).toContain(message);
  expect(existsSync(path('.svc'))).toBe(false);
});

test('set does not overwrite a broken file', async () => {
  const { terminal, svc, read } = machine({ project: '{"svc": ' });
  expect(await svc('config', 'set', 'svc.projectKey', 'demo')).toBe(4);
  expect(terminal.complained()).toContain('nothing was changed');
  expect(read('.svc/config.json')).toBe('{"svc": ');
});

test('a first secrets file hides values of the global one, with a warning', async () => {
  const { terminal, svc } = machine({
    project: { svc: { projectKey: 'demo' } },
    global: { svc: { tracker: { apiToken: 'from-global' } } },
    input: 'key',
  });
  expect(await svc('config', 'set', 'svc.search.apiKey', '-')).toBe(0);
  expect(terminal.complained()).toContain('no longer apply to it: svc.tracker.apiToken');
});

test('validate: exit 0 and the file, or exit 1 and every problem', async () => {
  const good = machine({ project: { svc: {} } });
  expect(await good.svc('config', 'validate')).toBe(0);
  expect(good.terminal.printed()).toContain('is valid');
  const bad = machine({ project: { svc: { projectKy: 'x', orchestration: { maxParallel: 'three' } } } });
  expect(await bad.svc('config', 'validate')).toBe(1);
  expect(bad.terminal.printed()).toMatch(
    /config\.json:3: svc\.projectKy: unknown key\. Did you mean projectKey\?/,
  );
  expect(bad.terminal.printed()).toMatch(
    /maxParallel: expected a whole number of at least 1, found string "three"/,
  );
});

test.each(['project', 'secrets', 'global'] as const)(
  'a %s file that is not JSON is an error, with its line',
  async (layer) => {
    const valid = { project: { svc: { projectKey: 'demo' } } };
    const { terminal, svc } = machine({ ...valid, [layer]: '{\n  // "svc": 1\n}' });
    expect(await svc('config', 'validate')).toBe(1);
    expect(terminal.printed()).toMatch(/config(-demo)?\.json:2: is not valid JSON/);
  },
);

test('.claude/config.json is read where there is no .svc/config.json', async () => {
  const { terminal, svc, path } = machine();
  mkdirSync(path('.claude'));
  writeFileSync(path('.claude/config.json'), '{"svc":{"projectKey":"old"}}');
  await svc('config', 'explain', 'svc.projectKey');
  expect(terminal.printed()).toContain('svc.projectKey = "old"');
  mkdirSync(path('.svc'));
  writeFileSync(path('.svc/config.json'), '{"svc":{"projectKey":"new"}}');
  await svc('config', 'explain', 'svc.projectKey');
  expect(terminal.printed()).toContain('svc.projectKey = "new"');
});

test('an empty environment variable counts as not set, with a note', async () => {
  const { terminal, svc } = machine({ environment: { PROMETHEUS_URL: '' } });
  await svc('config', 'explain', 'otel.prometheusUrl');
  expect(terminal.printed()).toContain('environment PROMETHEUS_URL: not set (empty counts as not set)');
});

test('schema prints a JSON Schema that knows the fields', async () => {
  const { terminal, svc } = machine();
  expect(await svc('config', 'schema', 'project')).toBe(0);
  expect(JSON.parse(terminal.printed()).properties.svc.properties.tracker.properties.stateMap).toBeDefined();
  expect(await svc('config', 'schema', 'wrong')).toBe(2);
});
