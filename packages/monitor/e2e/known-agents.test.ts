// The agents of a machine, through the command line and a daemon: which are installed, and whether they can be used.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { lives } from '../src/orchestrate/agents/testing/scripted-agent.ts';
import { testRepository } from '../src/orchestrate/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const program = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');
const scripted = (as: string, mode: string | null = 'ask') => ({
  command: process.execPath,
  args: [program],
  env: { AS: as },
  mode,
});

async function world(agents: object, timings = {}) {
  const { home, folder, environment, write, branches } = testRepository(temporaryFolder());
  const orchestration = { agent: ['/bin/sh', '${PROMPT}'], agents };
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
  const svc = async (...words: string[]) => {
    const terminal = { ...testTerminal(), home, folder, environment: given };
    const code = await runCommandLine(terminal, words);
    const printed = terminal.printed().replaceAll(/ +/g, ' ');
    return { code, lines: printed.split('\n').filter(Boolean), complained: terminal.complained() };
  };
  return { svc, bin, daemon, branches, home };
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
    lines: ['codex: not installed', ` Run: ${install}`],
  });
  expect(await svc('agents', 'check', 'none')).toMatchObject({
    code: 2,
    complained: expect.stringContaining('There is no agent "none".'),
  });
  // Found in the daemon's PATH, without being run.
  symlinkSync(process.execPath, join(bin, 'gemini'));
  expect((await svc('agents', 'list')).lines).toContain(`gemini ${join(bin, 'gemini')} mode default`);
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
      ...Array<unknown>(7).fill(expect.any(String)),
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
  expect(existsSync(join(home, 'svc/runs'))).toBe(false);
  const plan = join(home, 'plan.json');
  writeFileSync(plan, JSON.stringify({ tickets: [{ ticket: 'A-1', agent: 'mine' }] }));
  expect(await svc('orchestrate', 'start', '--file', plan, '--name', 'run-1')).toMatchObject({ code: 0 });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toMatchObject({ code: 0 });
});
