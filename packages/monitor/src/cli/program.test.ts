import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { everyVerb } from './describe-program.ts';
import { describeSvc } from './describe-svc.ts';
import { buildProgram } from './program.ts';
import { runCommandLine } from './run.ts';

const program = await describeSvc();

async function helpOf(path: readonly string[]): Promise<string> {
  const terminal = testTerminal();
  expect(await runCommandLine(terminal, [...path, '--help'])).toBe(0);
  return terminal.printed();
}

/** The first words of all summaries. */
const summaryVerbs = new Set(
  `Accept Acknowledge Add Answer Archive Ask Back Build Cancel Check Compare Count Create Exit Explain File Follow Grant Hand Install
  Join Leave List Make Monitor Open Pause Play Print Queue Read Rebuild Record Remove Report Restart Restore Resolve Resume Retry Run Search Send
  Set Share Show Snooze Start Stop Store Summarise Test Undo Verify Wait Write`.split(/\s+/),
);

describe('help', () => {
  /** After a change: npx vitest run packages/monitor/src/cli/program.test.ts --update */
  test('help.txt has the help of every verb; no line has more than 80 columns, and no description two lines', async () => {
    const texts = await Promise.all(
      everyVerb(program).map(
        async ({ path }) => `$ ${['svc', ...path, '--help'].join(' ')}\n${await helpOf(path)}\n`,
      ),
    );
    const help = texts.join('\n');
    const lines = help.split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    // The second line of a description.
    expect(lines.filter((line) => /^ {10,}\S/.test(line))).toEqual([]);
    await expect(help).toMatchFileSnapshot(join(import.meta.dirname, 'help.txt'));
  });

  test('every summary starts with a verb and fits one line of its list, and every verb has an example', async () => {
    const verbs = everyVerb(program).filter(({ path }) => path.length > 0);
    expect(verbs.length).toBeGreaterThan(80);
    for (const { path, name, summary, examples } of verbs) {
      const [first = ''] = summary.split(/[ ,]/);
      expect(summaryVerbs, summary).toContain(first);
      const list = (await helpOf(path.slice(0, -1))).split('\n').map((line) => line.trim().split(/\s{2,}/));
      expect(list, path.join(' ')).toContainEqual([name, summary]);
      expect(examples, path.join(' ')).not.toEqual([]);
    }
  });

  test('the verbs of svc are in groups of at most eight', async () => {
    const { commands } = await buildProgram(testTerminal());
    const groups = Map.groupBy(commands, (command) => command.helpGroup());
    expect([...groups.keys()]).toEqual(['Start:', 'Look:', 'Act:', 'Run agents:', 'Configure:', 'Maintain:']);
    for (const [heading, verbs] of groups) expect(verbs.length, heading).toBeLessThanOrEqual(8);
    for (const name of commands.map((command) => command.name())) {
      const only = await buildProgram(testTerminal(), name);
      expect(only.commands.map((command) => command.name())).toEqual([name]);
    }
  });
});

describe('exit codes', () => {
  test.each([
    ['an unknown verb, with the likely one', ['confg'], 2, 'Did you mean config?'],
    ['a word of other programs', ['status'], 2, 'Did you mean svc monitor status?'],
    ['a word of other programs, in a group', ['config', 'get'], 2, 'svc config explain <key>?'],
    ['another one', ['config', 'check'], 2, 'Did you mean svc config validate?'],
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

  test('an invalid setting of the machine is an error, not an exception', async () => {
    const terminal = testTerminal({ environment: { SVC_MONITOR_PORT: 'many' } });
    expect(await runCommandLine(terminal, ['config', 'show'])).toBe(2);
    expect(terminal.complained()).toContain('SVC_MONITOR_PORT must be a port number');
  });
});
