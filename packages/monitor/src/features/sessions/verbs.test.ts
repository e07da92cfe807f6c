import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../cli/run.ts';
import { hookedAgents } from './hook-event.ts';
import { hookEvents } from './hooks.ts';

const files = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
  gemini: '.gemini/settings.json',
  copilot: '.copilot/hooks/svc.json',
} as const;
type Agent = keyof typeof files;

function machine(given: Parameters<typeof testTerminal>[0] = {}) {
  const terminal = testTerminal(given);
  const path = (agent: Agent): string => join(terminal.home, files[agent]);
  return {
    terminal,
    path,
    read: (agent: Agent): string => readFileSync(path(agent), 'utf8'),
    write: (agent: Agent, text: string, mode = 0o600): void => {
      mkdirSync(dirname(path(agent)), { recursive: true });
      writeFileSync(path(agent), text);
      chmodSync(path(agent), mode);
    },
    hooks: (...words: string[]) => runCommandLine(terminal, ['hooks', ...words]),
  };
}

/** Settings as people write them: their spacing, their order, their own hooks. */
const texts: Record<string, string> = {
  'an empty object': '{}',
  'an empty object with a space': '{ }\n',
  'an empty file': '',
  'other settings, indented by tabs': '{\n\t"model": "x",\n\t"env": {"A": "1"}\n}\n',
  'Windows line ends': '{\r\n  "model": "x"\r\n}\r\n',
  'one line': '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]},"model":"x"}',
  'empty lists': '{\n  "hooks": {\n    "Stop": [ ],\n    "SessionEnd": []\n  }\n}\n',
  'own hooks for the same events': `{
    "permissions": { "allow": [ "Bash(ls:*)" ] },
    "hooks": {
        "SessionEnd": [
            { "hooks": [ { "type": "command", "command": "mine" } ] }
        ],
        "Stop": [ { "matcher": "", "hooks": [ { "type": "command", "command": "mine too" } ] } ]
    },
    "last": [1,2,
      3]
}
`,
};

test.each(hookedAgents)('%s: removing the hooks leaves every settings file as it was', async (agent) => {
  for (const [name, text] of Object.entries(texts)) {
    const { read, write, hooks, path } = machine();
    write(agent, text, 0o640);
    expect(await hooks('install', agent, '--yes'), name).toBe(0);
    const installed = JSON.parse(read(agent)) as { hooks: Record<string, unknown[]> };
    expect(Object.keys(installed.hooks).toSorted(), name).toEqual(
      [...new Set([...hookEvents(agent), ...Object.keys(JSON.parse(text || '{}').hooks ?? {})])].toSorted(),
    );
    expect(statSync(path(agent)).mode & 0o777).toBe(0o640);
    // Installed again, it is the same.
    const once = read(agent);
    expect(await hooks('install', agent, '--yes')).toBe(0);
    expect(read(agent), name).toBe(once);
    expect(await hooks('remove', agent, '--yes')).toBe(0);
    expect(read(agent), name).toBe(text);
    expect(statSync(path(agent)).mode & 0o777).toBe(0o640);
  }
});

test.each(hookedAgents)('%s: a file that the installation created is removed', async (agent) => {
  const { path, hooks, terminal } = machine();
  expect(await hooks('install', agent, '--yes')).toBe(0);
  expect(statSync(path(agent)).mode & 0o777).toBe(0o600);
  expect(await hooks('remove', agent, '--yes')).toBe(0);
  expect(existsSync(path(agent))).toBe(false);
  expect(await hooks('remove', agent)).toBe(0);
  expect(terminal.printed()).toContain(`${agent} has no hooks of svc.`);
});

test('what a person changes meanwhile survives, also when the notes of the installation are lost', async () => {
  for (const isLost of [false, true]) {
    const { terminal, read, write, hooks } = machine();
    write('claude', '{\n  "model": "x"\n}\n');
    await hooks('install', 'claude', '--yes');
    const mine = '[{ "hooks": [{ "type": "command", "command": "mine" }] }]';
    write(
      'claude',
      read('claude')
        .replace('"model": "x"', '"model":   "y"')
        .replace('"hooks": {', `"hooks": {\n    "PreToolUse": ${mine},`),
    );
    if (isLost) rmSync(join(terminal.home, 'svc/agent-hooks.json'));
    expect(await hooks('remove', 'claude', '--yes')).toBe(0);
    expect(read('claude')).toContain('"model":   "y"');
    expect(read('claude')).toContain(mine);
    expect(JSON.parse(read('claude'))).toEqual({
      model: 'y',
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
    });
  }
});

test('a hook that a person moved into a group of their own is removed alone', async () => {
  const { read, write, hooks } = machine();
  await hooks('install', 'claude', '--yes');
  const settings = JSON.parse(read('claude')) as { hooks: { Stop: { hooks: object[] }[] } };
  settings.hooks.Stop[0]?.hooks.push({ type: 'command', command: 'mine' });
  write('claude', JSON.stringify(settings));
  expect(await hooks('remove', 'claude', '--yes')).toBe(0);
  expect(JSON.parse(read('claude'))).toEqual({
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
  });
});

test.each([
  ['{ "model": "x", }', 'is not valid JSON (line 1)'],
  ['{\n "hooks": {\n', 'is not valid JSON'],
  ['[]', 'is not a JSON object'],
  ['{ "hooks": [] }', 'hooks is not an object'],
  ['{ "hooks": { "Stop": {} } }', 'hooks.Stop is not a list'],
])('settings broken by hand are refused and stay: %s', async (text, problem) => {
  const { terminal, read, write, hooks } = machine();
  write('claude', text);
  expect(await hooks('install', 'claude', '--yes')).toBe(4);
  expect(terminal.complained()).toContain(problem);
  expect(terminal.complained()).toContain('by hand');
  expect(read('claude')).toBe(text);
  if (problem.includes('JSON')) {
    await hooks('list');
    expect(terminal.printed()).toMatch(/^claude +unknown .*by hand/m);
  }
});

test('Gemini accepts comments, and keeps them', async () => {
  const { read, write, hooks } = machine();
  const text = '{\n  // mine\n  "model": "x",\n}\n';
  write('gemini', text);
  expect(await hooks('install', 'gemini', '--yes')).toBe(0);
  expect(read('gemini')).toContain('// mine');
  expect(await hooks('remove', 'gemini', '--yes')).toBe(0);
  expect(read('gemini')).toBe(text);
});

test('the change is shown and written only with consent; other lines of the file are not shown', async () => {
  const text = '{\n  "env": {\n    "API_KEY": "secret"\n  },\n  "model": "x"\n}\n';
  const refused = machine({ answers: ['no'] });
  refused.write('claude', text);
  expect(await refused.hooks('install', 'claude')).toBe(1);
  expect(refused.read('claude')).toBe(text);
  expect(refused.terminal.printed()).toMatch(/^\+ .*svc-agent-hook claude Stop/m);
  expect(refused.terminal.printed()).not.toContain('secret');
  const silent = machine();
  expect(await silent.hooks('install', 'claude')).toBe(1);
  expect(silent.terminal.complained()).toContain('svc hooks install claude --yes');
  expect(existsSync(silent.path('claude'))).toBe(false);
  const agreed = machine({ answers: ['y', 'y'] });
  expect(await agreed.hooks('install', 'claude')).toBe(0);
  expect(await agreed.hooks('remove', 'claude')).toBe(0);
  expect(existsSync(agreed.path('claude'))).toBe(false);
});

test("the settings are where each agent's own variable says", async () => {
  const { terminal, hooks } = machine();
  const variables = {
    CLAUDE_CONFIG_DIR: 'settings.json',
    CODEX_HOME: 'hooks.json',
    GEMINI_CLI_HOME: '.gemini/settings.json',
    COPILOT_HOME: 'hooks/svc.json',
  };
  for (const variable of Object.keys(variables))
    Object.assign(terminal.environment, { [variable]: join(terminal.home, variable) });
  for (const agent of hookedAgents) await hooks('install', agent, '--yes');
  for (const [variable, file] of Object.entries(variables))
    expect(existsSync(join(terminal.home, variable, file)), variable).toBe(true);
  expect(existsSync(join(terminal.home, '.claude'))).toBe(false);
});

test('list and the doctor report hooks that no longer report, with the fix', async () => {
  const { terminal, hooks } = machine();
  const states = async (): Promise<Record<string, string>> => {
    const before = terminal.printed().length;
    await hooks('list', '--json');
    const rows = JSON.parse(terminal.printed().slice(before)) as { agent: string; state: string }[];
    return Object.fromEntries(rows.map(({ agent, state }) => [agent, state]));
  };
  await hooks('install', 'claude', '--yes');
  expect(await states()).toMatchObject({ claude: 'installed', codex: 'not installed' });
  const script = join(terminal.home, 'svc/svc-agent-hook');
  const text = readFileSync(script, 'utf8');
  writeFileSync(script, text.replaceAll(process.argv[1] ?? '', '/gone/svc.js'));
  for (const problem of ['moved', 'no token', 'readable token']) {
    if (problem !== 'moved') writeFileSync(script, text);
    if (problem === 'no token') rmSync(join(terminal.home, 'svc/hook-token'));
    if (problem === 'readable token')
      writeFileSync(join(terminal.home, 'svc/hook-token'), 'x', { mode: 0o644 });
    expect(await states(), problem).toMatchObject({ claude: 'outdated' });
    await runCommandLine(terminal, ['doctor']);
    expect(terminal.printed(), problem).toContain('svc hooks install claude');
  }
  rmSync(join(terminal.home, 'svc/hook-token'));
  expect(await hooks('install', 'claude', '--yes')).toBe(0);
  expect(await states()).toMatchObject({ claude: 'installed' });
});

test('answering is off until it is asked for, and goes with the next plain install', async () => {
  const { terminal, read, write, hooks, path } = machine();
  const text = '{\n  "env": { "API_KEY": "secret" }\n}\n';
  write('claude', text);
  const entries = (): string[] =>
    read('claude').match(/svc-agent-hook'? claude PermissionRequest[^"]*/g) ?? [];
  const installed = async (...words: string[]): Promise<string> => {
    const before = terminal.printed().length;
    expect(await hooks('install', 'claude', '--yes', ...words)).toBe(0);
    return terminal.printed().slice(before);
  };
  expect(await installed()).not.toContain('can allow');
  const plain = read('claude');
  expect(plain).not.toContain(' answer');
  const shown = await installed('--answer');
  expect(shown).toContain('can allow what this agent asks for');
  expect(shown).toMatch(/^\+ .*claude PermissionRequest answer/m);
  expect(shown).not.toMatch(/secret|claude Stop/);
  expect(entries()).toHaveLength(2);
  await hooks('list');
  expect(terminal.printed()).toMatch(/^claude +installed, answers/m);
  expect(await installed()).toMatch(/^- .*claude PermissionRequest answer/m);
  expect(read('claude')).toBe(plain);
  await installed('--answer');
  expect(await hooks('remove', 'claude', '--yes')).toBe(0);
  expect(read('claude')).toBe(text);
  for (const agent of hookedAgents.filter((one) => one !== 'claude')) {
    expect(await hooks('install', agent, '--answer', '--yes')).toBe(2);
    expect(existsSync(path(agent))).toBe(false);
  }
  expect(terminal.complained()).toContain('svc hooks install codex');
});

test('folders that the installation made go with the file, unless something else is in them', async () => {
  const { terminal, path, hooks } = machine();
  for (const isUsed of [false, true]) {
    for (const agent of hookedAgents) {
      await hooks('install', agent, '--yes');
      await hooks('install', agent, '--yes');
      if (isUsed) writeFileSync(join(dirname(path(agent)), 'mine'), '');
      await hooks('remove', agent, '--yes');
      expect(existsSync(dirname(path(agent))), agent).toBe(isUsed);
    }
    expect(existsSync(join(terminal.home, '.copilot'))).toBe(isUsed);
  }
});
