import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { testTerminal } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { buildProgram } from './program.ts';
import { runCommandLine } from './run.ts';

function everyVerb(
  command: CommandUnknownOpts,
  path: string[] = [],
): { path: string[]; command: CommandUnknownOpts }[] {
  return command.commands.flatMap((child) => [
    { path: [...path, child.name()], command: child },
    ...everyVerb(child, [...path, child.name()]),
  ]);
}

const helpOf = async (path: string[]) => {
  const terminal = testTerminal();
  expect(await runCommandLine(terminal, [...path, '--help'])).toBe(0);
  return terminal.printed();
};

test('the help of every verb has a summary and an example', async () => {
  const verbs = everyVerb(buildProgram(testTerminal())).filter(({ command }) => command.name() !== 'help');
  expect(verbs.length).toBeGreaterThan(20);
  for (const { path, command } of verbs) {
    expect(command.summary(), path.join(' ')).not.toBe('');
    expect(await helpOf(path), path.join(' ')).toContain('Example:');
  }
});

describe('exit codes', () => {
  test.each([
    ['an unknown verb, with the likely one', ['confg'], 2, 'Did you mean config?'],
    ['an unknown option, with the likely one', ['config', 'show', '--jsn'], 2, 'Did you mean --json?'],
    ['a missing argument', ['config', 'explain'], 2, "missing required argument 'key'"],
    ['a group without a verb', ['config'], 2, 'Usage: svc config'],
    ['a missing option', ['add-finding', '--title', 'x'], 2, "required option '--body <text>' not specified"],
  ])('%s', async (_, words, code, message) => {
    const terminal = testTerminal();
    expect(await runCommandLine(terminal, words)).toBe(code);
    expect(terminal.complained()).toContain(message);
  });

  test('a bug is 70, with what to report', async () => {
    const terminal = { ...testTerminal(), readInput: () => Promise.reject(new TypeError('boom')) };
    expect(await runCommandLine(terminal, ['config', 'set', 'svc.search.apiKey', '-'])).toBe(70);
    expect(terminal.complained()).toContain('This is a bug in svc');
  });

  test('a broken setting of the machine is told, not thrown', async () => {
    const terminal = testTerminal({ environment: { SVC_MONITOR_PORT: 'many' } });
    expect(await runCommandLine(terminal, ['config', 'show'])).toBe(2);
    expect(terminal.complained()).toContain('SVC_MONITOR_PORT must be a port number');
  });
});
