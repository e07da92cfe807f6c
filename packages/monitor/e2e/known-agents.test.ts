// The agents of a machine, through the command line and a daemon: which are installed, and whether they can be used.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives, textIn } from '../src/features/agents/testing/scripted-agent.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const program = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');
const scripted = (as: string, mode: string | null = 'ask') => ({
  command: process.execPath,
  args: [program],
  env: { AS: as },
  mode,
});

async function world(
  agents: object,
  timings = {},
  more: object = {},
  inherited: Record<string, string> = {},
) {
  const { home, folder, environment, write, branches } = testRepository(temporaryFolder());
  const orchestration = { agent: ['/bin/sh', '${PROMPT}'], agents, ...more };
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo', orchestration } }));
  write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: [folder] } }));
  const bin = join(home, 'bin');
  vi.stubEnv('TMPDIR', join(home, 'tmp'));
  onTestFinished(() => void vi.unstubAllEnvs());
  mkdirSync(tmpdir());
  write(bin, 'codex-acp', 'not a program');
  const given = {
    ...environment,
    ...inherited,
    PATH: `${bin}:${environment['PATH']}`,
    SVC_ORCHESTRATE_TIMINGS: JSON.stringify(timings),
  };
  const daemon = await startInProcess({ home, environment: given });
  const at = async (where: string, variables: object, ...words: string[]) => {
    const terminal = { ...testTerminal(), home, folder: where, environment: { ...given, ...variables } };
    const code = await runCommandLine(terminal, words);
    const printed = terminal.printed().replaceAll(/ +/g, ' ');
    return { code, lines: printed.split('\n').filter(Boolean), complained: terminal.complained() };
  };
  const svc = Object.assign((...words: string[]) => at(folder, {}, ...words), { at });
  return { svc, bin, daemon, branches, home, folder, write };
}

test('an agent that can be used: its version, what it can do, its modes', async () => {
  const { svc } = await world({ mine: scripted('') });
  expect(await svc('agents', 'check', 'mine')).toEqual({
    code: 0,
    complained: '',
    lines: [
      'mine: usable',
      ` program ${process.execPath}`,
      ' version 1.0.0',
      ' protocol version 1',
      ' login unknown: it shows only when it gets work',
      ' can resume, load, close',
      ' modes ask, auto',
      ' mode ask',
      ' models unknown',
    ],
  });
  const { lines } = await svc('agents', 'check', 'mine', '--json');
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    ok: true,
    login: { state: 'unknown' },
    capabilities: ['resume', 'load', 'close'],
  });
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('svc-agent-'))).toEqual([]);
});

test('the list, and a check of all: those that are not installed have the command that installs them', async () => {
  const { svc, bin } = await world({ mine: scripted(''), other: { command: '/nowhere/other' } });
  const install = 'npm install --global @agentclientprotocol/codex-acp@2.6.0';
  const { lines } = await svc('agents', 'list');
  expect(lines).toContain(`codex not installed ${install}`);
  expect(lines).toContain(`mine ${process.execPath} mode ask login unknown: it was not asked`);
  expect(lines).toContain('other not installed');
  const doctor = (await svc('doctor')).lines.join('\n');
  expect(doctor).toContain('The agent other is not installed: /nowhere/other was not found');
  expect(doctor).toContain('set svc.orchestration.agents.other.command to its full path');
  // Nobody has asked for it.
  expect(doctor).not.toContain('codex');
  const all = await svc('agents', 'check');
  expect(all.code).toBe(0);
  expect(all.lines.join('\n')).toContain(`codex: not installed\n Run: ${install}\n`);
  expect(all.lines).toContain('mine: usable');
  expect(await svc('agents', 'check', 'codex')).toMatchObject({
    code: 1,
    lines: ['codex: not installed', expect.stringContaining(` Run: ${install}. If codex-acp is in`)],
  });
  expect(await svc('agents', 'check', 'none')).toMatchObject({
    code: 2,
    complained: expect.stringContaining('There is no agent "none".'),
  });
  // Found in the daemon's PATH, without being run.
  symlinkSync(process.execPath, join(bin, 'gemini'));
  expect((await svc('agents', 'list')).lines).toContain(
    `gemini ${join(bin, 'gemini')} mode default login unknown: it was not asked`,
  );
});

test('before there is a project; and a program that only the person has in the PATH', async () => {
  const { daemon, home, svc } = await world({});
  const own = join(home, 'own');
  mkdirSync(own);
  symlinkSync(process.execPath, join(own, 'qwen'));
  const outside = await svc.at(home, { PATH: `${own}:${process.env['PATH']}` }, 'agents', 'list');
  expect(outside).toMatchObject({ code: 0, complained: '' });
  expect(outside.lines).toContain(
    `qwen only in your PATH (${join(own, 'qwen')}) the daemon was started without it: svc monitor restart`,
  );
  expect(await svc.at(home, {}, 'agents', 'check', 'gemini')).toMatchObject({
    code: 1,
    lines: ['gemini: not installed', expect.stringContaining('npm install --global @google/gemini-cli')],
  });
  expect(daemon.lines()).toEqual([]);
});

test.each([
  [
    'version-2',
    'ask',
    'The agent mine speaks version 2 of the protocol, not 1.',
    'Install a version that does.',
  ],
  [
    'logged-out',
    'ask',
    'The agent mine needs a login: it opens no session without one.',
    `Log in with: ${process.execPath}. Or name the variable`,
  ],
  ['ended', 'ask', 'The agent mine ended with exit code 3 (no configuration found).', 'See what it prints: '],
  [
    '',
    'default',
    'The agent mine has no permission mode "default"; it has: ask, auto.',
    'Choose one of them: svc config set',
  ],
])('an agent that cannot be used: %s %s', async (as, mode, problem, remedy) => {
  const { svc } = await world({ mine: scripted(as, mode) });
  const { code, lines } = await svc('agents', 'check', 'mine');
  expect([code, ...lines]).toMatchObject([
    1,
    'mine: not usable',
    ` ${problem}`,
    expect.stringContaining(remedy),
    ...lines.slice(3),
  ]);
});

const SECRET = 'sk-never-shown-0123456789';
const none = JSON.stringify({ kind: 'none', label: 'Not logged in' });
const customProvider = `model_provider = "own"
[model_providers.own]
base_url = "http://127.0.0.1:1/v1"
env_key = "OWN_KEY"
`;

test.each<{
  what: string;
  name?: string;
  env?: object;
  variables?: Record<string, string>;
  agentEnv?: string[];
  files?: Record<string, string>;
  login: string;
  remedy?: string;
}>([
  {
    what: 'nobody is logged in',
    env: { LOGIN: none },
    login: 'no: it reports that nobody is logged in',
    remedy:
      'Run: claude-agent-acp --cli auth login. Or set ANTHROPIC_API_KEY in the environment of the daemon, and restart it: svc monitor restart, then: svc config set svc.orchestration.agentEnv \'["ANTHROPIC_API_KEY"]\'',
  },
  {
    what: 'a key that agents do not get',
    env: { LOGIN: none },
    variables: { ANTHROPIC_API_KEY: SECRET },
    agentEnv: ['MINE'],
    login: 'no: it reports that nobody is logged in',
    remedy: `Run: svc config set svc.orchestration.agentEnv '["MINE","ANTHROPIC_API_KEY"]'. It is set where svc runs, and the agent does not get it.`,
  },
  {
    what: 'a key that it gets and does not report',
    env: { LOGIN: none },
    variables: { ANTHROPIC_AUTH_TOKEN: SECRET },
    agentEnv: ['ANTHROPIC_AUTH_TOKEN'],
    login: 'yes: ANTHROPIC_AUTH_TOKEN is set',
  },
  {
    what: 'a login that it reports',
    env: {
      LOGIN: JSON.stringify({ kind: 'account', label: 'Claude Max', account: { email: 'kim@acme.example' } }),
    },
    login: 'yes: Claude Max',
  },
  {
    what: 'settings from which a key may come',
    env: { LOGIN: none },
    files: { '.claude/settings.json': `{"env":{"ANTHROPIC_AUTH_TOKEN":"${SECRET}"}}` },
    login: 'unknown: it may have a key by HOME/.claude/settings.json',
  },
  {
    what: 'a provider of its settings, whose key it does not get',
    name: 'codex',
    env: { LOGIN: JSON.stringify({ kind: 'gateway', label: 'Custom model gateway', detail: 'own' }) },
    files: { '.codex/config.toml': customProvider },
    login: 'no: its settings take the key from OWN_KEY, which it does not get',
    remedy: `Run: svc config set svc.orchestration.agentEnv '["OWN_KEY"]'. And set it in the environment of the daemon, then: svc monitor restart`,
  },
  {
    what: 'the same, with the key',
    name: 'codex',
    env: { LOGIN: JSON.stringify({ kind: 'gateway', label: 'Custom model gateway', detail: 'own' }) },
    variables: { OWN_KEY: SECRET },
    agentEnv: ['OWN_KEY'],
    files: { '.codex/config.toml': customProvider },
    login: 'yes: OWN_KEY is set',
  },
  {
    what: 'the same, in a project that may choose another provider',
    name: 'codex',
    env: { LOGIN: JSON.stringify({ kind: 'gateway', label: 'Custom model gateway', detail: 'own' }) },
    files: {
      '.codex/config.toml': customProvider,
      'PROJECT/.codex/config.toml': 'model_provider = "openai"',
    },
    login: 'unknown: it uses Custom model gateway, own',
  },
  {
    what: 'a file with its login',
    name: 'opencode',
    files: { '.local/share/opencode/auth.json': `{"anthropic":{"key":"${SECRET}"}}` },
    login: 'yes: there is HOME/.local/share/opencode/auth.json',
  },
  {
    what: 'a key, and it refuses all the same',
    name: 'qwen',
    env: { AS: 'logged-out' },
    variables: { OPENAI_API_KEY: SECRET },
    agentEnv: ['OPENAI_API_KEY'],
    login: 'no: it opens no session, although OPENAI_API_KEY is set: the key may be wrong, or not enough',
    remedy: 'Run: qwen (then /auth)',
  },
])('its login: $what', async (given) => {
  const { name = 'claude', env = {}, variables = {}, agentEnv = [], files = {}, login, remedy } = given;
  const agent = { ...scripted(''), env };
  const { svc, home, folder, write, daemon } = await world({ [name]: agent }, {}, { agentEnv }, variables);
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).toMatchObject({ code: 0 });
  for (const [path, text] of Object.entries(files))
    write(path.startsWith('PROJECT') ? folder : home, path.replace(/^PROJECT\//, ''), text);
  const expected = login.replace('HOME', home);
  const isMissing = expected.startsWith('no: ');
  const { code, lines } = await svc('agents', 'check', name);
  expect(lines).toContain(` login ${expected}`);
  expect([code, lines[0]]).toEqual(isMissing ? [1, `${name}: not usable`] : [0, `${name}: usable`]);
  const preflight = await svc('orchestrate', 'start', 'A-1', '--agent', name, '--check');
  const problem = ` The agent ${name} needs a login: ${expected.replace('no: ', '')}.`;
  if (isMissing) expect(lines.slice(1, 3)).toEqual([problem, ` ${remedy}`]);
  expect([preflight.code, preflight.lines]).toEqual(
    isMissing ? [1, ['Not ready:', problem, ` ${remedy}`]] : [0, ['Ready: nothing is missing.']],
  );
  const doctor = (await svc('doctor')).lines.join('\n');
  expect(doctor.includes(problem.trim().replace(/\.$/, ''))).toBe(isMissing);
  const shown = JSON.stringify([lines, preflight, doctor, (await svc('agents', 'list', '--json')).lines]);
  expect(shown).not.toContain(SECRET);
  expect(shown).not.toContain('kim@');
  // The answer of a moment ago is shown, if it still counts.
  if (!isMissing)
    expect((await svc('agents', 'list')).lines).toContainEqual(
      expect.stringMatching(new RegExp(`^${name} .* login ${expected.split(':')[0]}: `)),
    );
  expect(daemon.lines()).toEqual([]);
});

test('without a daemon, before there is a project: the agents of the shell', async () => {
  const { home, environment } = testRepository(temporaryFolder());
  const bin = join(home, 'bin');
  mkdirSync(bin);
  // Its program is found in the PATH, and runs in it.
  const words = `exec '${process.execPath}' '${program}'`;
  writeFileSync(join(bin, 'opencode'), `#!/bin/sh\n${words}\n`, { mode: 0o755 });
  const at = async (...given: string[]) => {
    const variables = { ...environment, PATH: `${bin}:${environment['PATH']}`, OPENAI_API_KEY: SECRET };
    const terminal = { ...testTerminal(), home, folder: home, environment: variables };
    const code = await runCommandLine(terminal, given);
    const printed = terminal.printed().replaceAll(/ +/g, ' ');
    return { code, lines: printed.split('\n').filter(Boolean), complained: terminal.complained() };
  };
  const note = 'No daemon answers: these are the agents in the PATH of this shell.';
  const before = readdirSync(home).toSorted();
  const listed = await at('agents', 'list');
  expect(listed).toMatchObject({ code: 0, complained: expect.stringContaining(note) });
  expect(listed.lines).toContain(
    `opencode ${join(bin, 'opencode')} mode build login unknown: it was not asked`,
  );
  expect(listed.lines).toContain('gemini not installed npm install --global @google/gemini-cli@0.61.0');
  const checked = await at('agents', 'check', 'opencode');
  expect(checked.lines).toContain(' version 1.0.0');
  expect(checked.complained).toContain(note);
  const missing = await at('agents', 'check', 'qwen');
  expect([missing.code, ...missing.lines]).toEqual([
    1,
    'qwen: not installed',
    ' Run: npm install --global @qwen-code/qwen-code@0.24.4',
  ]);
  expect(readdirSync(home).toSorted()).toEqual(before);
});

test('an agent that does not answer is ended at the deadline', async () => {
  const received = join(temporaryFolder(), 'received');
  const silent = { ...scripted('silent'), env: { AS: 'silent', RECEIVED: received } };
  // A busy machine needs a while until the agent runs.
  const { svc, daemon } = await world({ mine: silent }, { agentAnswerSec: 3 });
  const problem = 'The agent mine did not answer initialize within 3 s.';
  expect(await svc('agents', 'check', 'mine')).toMatchObject({
    code: 1,
    lines: [
      'mine: not usable',
      ` ${problem}`,
      expect.any(String),
      ...Array<unknown>(8).fill(expect.any(String)),
    ],
  });
  const pid = Number(readFileSync(received, 'utf8').trim());
  expect([pid > 0, lives(pid)]).toEqual([true, false]);
  const started = await svc('orchestrate', 'start', 'A-1', '--agent', 'mine');
  expect(started).toMatchObject({ code: 6, complained: expect.stringContaining(problem) });
  expect(daemon.lines()).toEqual([]);
});

test('a run is refused before anything is created when its agent cannot be used', async () => {
  const { svc, daemon, branches, home } = await world({ mine: scripted(''), second: scripted('version-2') });
  const refused: [string[], string][] = [
    [['--agent', 'gemini'], 'npm install --global @google/gemini-cli@0.61.0'],
    [['--agent', 'mine', '--agent', 'A-2=gemini'], 'npm install --global @google/gemini-cli@0.61.0'],
    [['--agent', 'second'], 'speaks version 2 of the protocol'],
    [['--agent', 'none'], 'There is no agent "none".'],
  ];
  for (const [options, words] of refused) {
    const { code, complained } = await svc('orchestrate', 'start', 'A-1', 'A-2', ...options);
    expect([options, code, complained]).toEqual([options, 6, expect.stringContaining(words)]);
  }
  expect(daemon.lines()).toEqual([]);
  expect(branches()).toEqual(['main']);
  expect(readdirSync(join(home, 'svc/runs'))).toEqual([]);
  const plan = join(home, 'plan.json');
  writeFileSync(plan, JSON.stringify({ tickets: [{ ticket: 'A-1', agent: 'mine' }] }));
  expect(await svc('orchestrate', 'start', '--file', plan, '--name', 'run-1')).toMatchObject({ code: 0 });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
});

test('everything that is missing for a start is reported at once, each with its fix', async () => {
  const { svc, daemon } = await world({}, {}, { workerCommand: '/svc-dev:none' });
  const { code, complained } = await svc(
    'orchestrate',
    'start',
    'A-1',
    '--agent',
    'claude',
    '--base',
    'nowhere',
  );
  expect([code, complained]).toEqual([6, expect.stringContaining('3 things are missing:')]);
  for (const words of [
    'There is no branch nowhere to start from.',
    'claude-agent-acp was not found in the daemon',
    'svc monitor restart',
    'The worker command /svc-dev:none does not exist',
    'svc config set svc.orchestration.workerCommand /svc-dev:oneshot',
  ])
    expect(complained).toContain(words);
  expect(daemon.lines()).toEqual([]);
});

test('an agent that knows commands gets the text of the skill until the worker command is installed', async () => {
  const received = join(temporaryFolder(), 'received');
  const claude = { ...scripted(''), env: { RECEIVED: received } };
  const { svc } = await world({ claude });
  expect(await svc('agents', 'check', 'claude')).toMatchObject({ code: 0 });
  const start = (run: string) => svc('orchestrate', 'start', 'A-1', '--agent', 'claude', '--name', run);
  expect(await start('run-1')).toMatchObject({ code: 0 });
  expect(await textIn(received)).toContain('The ticket: A-1.');
  expect(readFileSync(received, 'utf8')).not.toContain('/svc-dev:oneshot');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).toMatchObject({ code: 0 });
  rmSync(received);
  expect(await start('run-2')).toMatchObject({ code: 0 });
  expect(await textIn(received)).toContain('/svc-dev:oneshot A-1');
  expect(await svc('orchestrate', 'cancel', 'run-2')).toMatchObject({ code: 0 });
});

test('the same as a command line', async () => {
  const { svc, bin, home, write } = await world({}, {}, { agent: ['claude', '-p', '${PROMPT}'] });
  write(bin, 'claude', '#!/bin/sh\n[ "$1" = --version ] && exit\necho "$2" >> "$HOME/got"\nexec sleep 600\n');
  chmodSync(join(bin, 'claude'), 0o755);
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).toMatchObject({ code: 0 });
  expect(await textIn(join(home, 'got'))).toContain('The ticket: A-1.');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
  // By the program in the PATH.
  expect(await svc('skills', 'install', '--yes')).toMatchObject({ code: 0 });
  rmSync(join(home, 'got'));
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-2')).toMatchObject({ code: 0 });
  expect(await textIn(join(home, 'got'))).toBe('/svc-dev:oneshot A-1\n');
  expect(await svc('orchestrate', 'cancel', 'run-2')).toMatchObject({ code: 0 });
});

test('an agent gets no work while the text of its worker command is missing', async () => {
  const received = join(temporaryFolder(), 'received');
  const mine = { ...scripted(''), env: { RECEIVED: received } };
  const { svc, daemon, branches, home, write } = await world({ mine }, {}, { workerCommand: '/acme:work' });
  const file = '.agents/skills/acme-work/SKILL.md';
  const problem = `the text of /acme:work was not found in ${join(home, file)}`;
  const check = await svc('agents', 'check', 'mine');
  expect([check.code, ...check.lines.slice(0, 2)]).toEqual([
    1,
    'mine: not usable',
    expect.stringContaining(problem),
  ]);
  const start = () => svc('orchestrate', 'start', 'A-1', '--agent', 'mine', '--name', 'run-1');
  expect(await start()).toMatchObject({ code: 6, complained: expect.stringContaining(problem) });
  expect(daemon.lines()).toEqual([]);
  expect(branches()).toEqual(['main']);
  expect(existsSync(received)).toBe(false);
  write(home, file, 'Do $ARGUMENTS well.');
  expect(await start()).toMatchObject({ code: 0 });
  expect(await textIn(received)).toContain('Do A-1 well.');
  // It was removed after the run was started.
  rmSync(join(home, file));
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
  const retried = await svc('orchestrate', 'retry', 'run-1', 'A-1');
  expect(retried).toMatchObject({ code: 6, complained: expect.stringContaining(problem) });
});

test('an agent without commands gets the text of the skill, with its ticket', async () => {
  const received = join(temporaryFolder(), 'received');
  const mine = { ...scripted(''), env: { RECEIVED: received } };
  const { svc } = await world({ mine });
  expect(await svc('orchestrate', 'start', 'A-1', '--agent', 'mine', '--name', 'run-1')).toMatchObject({
    code: 0,
  });
  const prompt = await textIn(received);
  expect(prompt).toContain('The ticket: A-1.');
  expect(prompt).toContain('svc ticket phase inReview');
  expect(prompt).not.toContain('description:');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
});

test('a command of somebody else: its text is asked for where the agent has none', async () => {
  const received = join(temporaryFolder(), 'received');
  const mine = { ...scripted(''), env: { RECEIVED: received } };
  const { svc, home, write } = await world({ mine }, {}, { workerCommand: '/acme:work' });
  const { code, complained } = await svc('orchestrate', 'start', 'A-1', '--agent', 'mine');
  expect([code, complained]).toEqual([6, expect.stringContaining('.agents/skills/acme-work/SKILL.md')]);
  write(home, '.agents/skills/acme-work/SKILL.md', '---\nname: acme-work\n---\nDo $ARGUMENTS well.');
  expect(await svc('orchestrate', 'start', 'A-1', '--agent', 'mine', '--name', 'run-1')).toMatchObject({
    code: 0,
  });
  expect(await textIn(received)).toContain('Do A-1 well.');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
});

test('a skill that svc does not have is no worker command', async () => {
  const { svc } = await world({ claude: scripted('') }, {}, { workerCommand: '/svc-dev:onshot' });
  const { complained } = await svc('orchestrate', 'start', 'A-1', '--agent', 'claude');
  expect(complained).toContain('svc-dev has no skill onshot');
});
