// The agents of a machine, through the command line and a daemon: which are installed, and whether they can be used.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives, textIn } from '../src/orchestrate/agents/testing/scripted-agent.ts';
import { testRepository } from '../src/orchestrate/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const program = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');
const scripted = (as: string, mode: string | null = 'ask') => ({
  command: process.execPath,
  args: [program],
  env: { AS: as },
  mode,
});

async function world(agents: object, timings = {}, more: object = {}) {
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
  return { svc, bin, daemon, branches, home, write };
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
      ' login unknown until it gets work',
      ' can resume, load, close',
      ' modes ask, auto',
      ' mode ask',
      ' models unknown',
    ],
  });
  const { lines } = await svc('agents', 'check', 'mine', '--json');
  expect(JSON.parse(lines.join('\n'))).toMatchObject({
    ok: true,
    loginNeeded: null,
    capabilities: ['resume', 'load', 'close'],
  });
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('svc-agent-'))).toEqual([]);
});

test('the list, and a check of all: those that are not installed have the command that installs them', async () => {
  const { svc, bin } = await world({ mine: scripted(''), other: { command: '/nowhere/other' } });
  const install = 'npm install --global @agentclientprotocol/codex-acp@2.6.0';
  const { lines } = await svc('agents', 'list');
  expect(lines).toContain(`codex not installed ${install}`);
  expect(lines).toContain(`mine ${process.execPath} mode ask`);
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
  expect((await svc('agents', 'list')).lines).toContain(`gemini ${join(bin, 'gemini')} mode default`);
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
    'The agent mine needs a login.',
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
  const { svc, daemon } = await world({});
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
    'The worker command /svc-dev:oneshot is not installed for the agent claude',
    'Run: svc skills install --agent claude',
  ])
    expect(complained).toContain(words);
  expect(daemon.lines()).toEqual([]);
});

test('an agent that knows commands gets no work until the worker command is installed', async () => {
  const received = join(temporaryFolder(), 'received');
  const claude = { ...scripted(''), env: { RECEIVED: received } };
  const { svc, daemon, branches } = await world({ claude });
  const problem = 'The worker command /svc-dev:oneshot is not installed for the agent claude';
  const remedy = 'Run: svc skills install --agent claude';
  const check = await svc('agents', 'check', 'claude');
  expect([check.code, ...check.lines.slice(0, 3)]).toEqual([
    1,
    'claude: not usable',
    expect.stringContaining(problem),
    ` ${remedy}`,
  ]);
  const refused = await svc('orchestrate', 'start', 'A-1', '--agent', 'claude');
  expect(refused).toMatchObject({ code: 6, complained: expect.stringContaining(problem) });
  expect(refused.complained).toContain(remedy);
  expect(daemon.lines()).toEqual([]);
  expect(branches()).toEqual(['main']);
  expect(existsSync(received)).toBe(false);
  expect(await svc('skills', 'install', '--agent', 'claude', '--yes')).toMatchObject({ code: 0 });
  expect(await svc('agents', 'check', 'claude')).toMatchObject({ code: 0 });
  expect(await svc('orchestrate', 'start', 'A-1', '--agent', 'claude', '--name', 'run-1')).toMatchObject({
    code: 0,
  });
  expect(await textIn(received)).toContain('/svc-dev:oneshot A-1');
  // It was removed after the run was started.
  expect(await svc('skills', 'remove', '--yes')).toMatchObject({ code: 0 });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
  const retried = await svc('orchestrate', 'retry', 'run-1', 'A-1');
  expect(retried).toMatchObject({ code: 6, complained: expect.stringContaining(remedy) });
});

test('the same as a command line', async () => {
  const { svc, bin, home, write, daemon } = await world({}, {}, { agent: ['claude', '-p', '${PROMPT}'] });
  write(bin, 'claude', '#!/bin/sh\n[ "$1" = --version ] && exit\necho "$2" >> "$HOME/got"\nexec sleep 600\n');
  chmodSync(join(bin, 'claude'), 0o755);
  const refused = await svc('orchestrate', 'start', 'A-1');
  expect(refused).toMatchObject({ code: 6, complained: expect.stringContaining('svc skills install') });
  expect(daemon.lines()).toEqual([]);
  // By the program in the PATH.
  expect(await svc('skills', 'install', '--yes')).toMatchObject({ code: 0 });
  expect(await svc('orchestrate', 'start', 'A-1', '--name', 'run-1')).toMatchObject({ code: 0 });
  expect(await textIn(join(home, 'got'))).toBe('/svc-dev:oneshot A-1\n');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
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
