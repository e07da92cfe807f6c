// Completion as a person has it: in the real shells, at a terminal, with the script that `svc completion` prints.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storyTicket } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { type Shell, shells } from '../src/cli/completion/scripts.ts';
import { shellAtTerminal } from './shell-at-terminal.ts';
import { storyDaemon } from './story-daemon.ts';

const TAB = '\t';
const ENTER = '\r';
const GIVE_UP = '\u0015';

describe.each<Shell>([...shells])('%s', (shell) => {
  test('completes verbs, options, values and files', async () => {
    const terminal = await shellAtTerminal(shell);
    mkdirSync(join(terminal.folder, 'two words'));
    writeFileSync(join(terminal.folder, 'two words', 'plan.txt'), '');
    const pressed = async (keys: string) => (await terminal.press(keys + ENTER))[0];
    expect(await pressed(`svc mon${TAB}sta${TAB}`)).toEqual(['monitor', 'sta']);
    expect(await pressed(`svc monitor resta${TAB}`)).toEqual(['monitor', 'restart']);
    expect(await pressed(`svc config set --lay${TAB}pro${TAB}`)).toEqual([
      'config',
      'set',
      '--layer',
      'project',
    ]);
    expect(await pressed(`svc config set --layer=pro${TAB}`)).toEqual(['config', 'set', '--layer=project']);
    expect(await pressed(`svc config explain svc.orchestration.maxP${TAB}`)).toEqual([
      'config',
      'explain',
      'svc.orchestration.maxParallel',
    ]);
    expect(await pressed(`svc events tail --event "codehost.pus${TAB}`)).toEqual([
      'events',
      'tail',
      '--event',
      'codehost.push',
    ]);
    expect(await pressed(`svc orchestrate start --file two${TAB}pl${TAB}`)).toEqual([
      'orchestrate',
      'start',
      '--file',
      'two words/plan.txt',
    ]);
  });

  test('lists the candidates if there is more than one', async () => {
    const terminal = await shellAtTerminal(shell);
    const keys = shell === 'bash' ? TAB + TAB : TAB;
    const screen = await terminal.sees(`svc monitor st${keys}`, ['start', 'status', 'stop']);
    expect(screen).not.toContain('restart');
  });

  test('offers the tickets of the running daemon', async () => {
    const daemon = await storyDaemon();
    daemon.setStatus('implementing');
    const workers = async () => (await daemon.get('/api/board')).body['workers'];
    await expect.poll(workers).toHaveLength(1);
    const terminal = await shellAtTerminal(shell, { environment: { SVC_DATA_DIR: daemon.machine.dataDir } });
    // Completion gives up early by design: on a busy machine a person presses Tab again.
    const press = async () => (await terminal.press(`svc why ${storyTicket.slice(0, 2)}${TAB}${ENTER}`))[0];
    await expect.poll(press, { timeout: 30_000 }).toEqual(['why', storyTicket]);
  });

  test('executes nothing that it offers, and does not even insert it', async () => {
    const terminal = await shellAtTerminal(shell);
    const pressed = async (keys: string) => (await terminal.press(keys + ENTER))[0];
    terminal.answers(['ABC-1\tfine $(touch pwned) `touch pwned` (touch pwned) %s \\', ':4']);
    for (const quote of ['', '"', "'"])
      expect(await pressed(`svc why ${quote}AB${TAB}`)).toEqual(['why', 'ABC-1']);
    for (const tail of [
      '$(touch pwned)',
      '`touch pwned`',
      ';touch pwned;',
      "'$(touch pwned)'",
      '(touch pwned)',
      ' x',
      '*',
    ]) {
      terminal.answers([`ABC-1${tail}\t${tail}`, ':4']);
      expect(await pressed(`svc why AB${TAB}`), tail).toEqual(['why', 'AB']);
      expect(await pressed(`svc why "AB${TAB}"`), tail).toEqual(['why', 'AB']);
    }
    terminal.answers(['', ':4']);
    expect(await pressed(`svc why AB${TAB}`)).toEqual(['why', 'AB']);
    expect(existsSync(join(terminal.folder, 'pwned'))).toBe(false);
  });

  test('executes nothing that was typed before Enter', async () => {
    const terminal = await shellAtTerminal(shell);
    const substitution = shell === 'fish' ? '(touch pwned)' : '$(touch pwned)';
    await terminal.sees(`svc why ${substitution} --orch${TAB}`, ['--orchestrator']);
    // The line is abandoned, and the next one runs when everything before it was done.
    expect(await terminal.press(`x "${substitution}${TAB}${GIVE_UP}svc done${ENTER}`)).toEqual([['done']]);
    expect(existsSync(join(terminal.folder, 'pwned'))).toBe(false);
  });
});
