// The whole command line: the verbs of the features, their help, and what their errors say.
import { type CommandUnknownOpts, createCommand, type Option } from '@commander-js/extra-typings';
import { loadTicketsOfIssues, verbGroups } from '../features/verbs.ts';
import { defaultText } from './describe-program.ts';
import { HELP_COLUMNS } from './kit/recorded-help.ts';
import type { Terminal } from './kit/terminal.ts';
import { VERSION } from './kit/version.ts';

/** With `asked`, the name of a verb, without the other verbs. */
export async function buildProgram(terminal: Terminal, asked?: string): Promise<CommandUnknownOpts> {
  const program = createCommand('svc')
    .description('Monitor coding agents, pull requests, deploys and tickets.')
    .version(VERSION, '-V, --version', 'show the version')
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 the answer is no, 2 usage; see docs/reference/exit-codes.md',
    );
  const isKnown = Object.values(verbGroups).some(
    (verbs) => asked !== undefined && Object.hasOwn(verbs, asked),
  );
  for (const [heading, verbs] of Object.entries(verbGroups)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(verbs))
      if (!isKnown || name === asked) program.addCommand((await load())(terminal));
  }
  program.commandsGroup('Start:'); // `help` goes there
  prepare(program, terminal);
  program.hook('preAction', (_, command) => writeTickets(command, terminal));
  return program;
}

const isIssue = (word: unknown): word is string => typeof word === 'string' && /^#|^https?:/.test(word);

/** A ticket may also be given as `#12` or by the address of its issue, to every verb that takes tickets. */
async function writeTickets(command: CommandUnknownOpts, terminal: Terminal): Promise<void> {
  const places = command.registeredArguments.flatMap((argument, index) =>
    /^tickets?$/.test(argument.name()) ? [index] : [],
  );
  if (!places.some((index) => [command.processedArgs[index]].flat().some(isIssue))) return;
  const ticketsOfIssues = await loadTicketsOfIssues();
  const ticketOf = await ticketsOfIssues(terminal);
  const written = (word: unknown): unknown => (isIssue(word) ? ticketOf(word) : word);
  for (const index of places) {
    const given: unknown = command.processedArgs[index];
    command.processedArgs[index] = Array.isArray(given) ? given.map(written) : written(given);
  }
}

/** Commander would also show empty defaults, and quote texts. */
function optionDescription(option: Option): string {
  const { description, argChoices: choices } = option;
  const value = option.required || option.optional ? defaultText(option) : null;
  const notes = [choices ? [choices.join(', ')] : [], value === null ? [] : [`default: ${value}`]].flat();
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** What is meant by words that other programs use; commander only finds misspellings. */
const meantBy: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  svc: { status: 'svc monitor status', start: 'svc monitor start', stop: 'svc monitor stop' },
  config: { get: 'svc config show, or svc config explain <key>', check: 'svc config validate' },
};

function withMeant(text: string, command: CommandUnknownOpts): string {
  const [, word = ''] = /unknown command '([^']+)'/.exec(text) ?? [];
  const meant = meantBy[command.name()]?.[word];
  if (meant === undefined) return text;
  return `${text.replace(/\n\(Did you mean .*\)/, '').trimEnd()}\n(Did you mean ${meant}?)\n`;
}

/** Commander keeps these per command: no process exit from inside, output through the terminal. */
function prepare(command: CommandUnknownOpts, terminal: Terminal): void {
  // An option behind a verb belongs to that verb, even when the group above has one of the same name.
  command.enablePositionalOptions();
  command.exitOverride().showHelpAfterError('(add --help for the options and an example)');
  command.helpOption('-h, --help', 'show this help');
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show help for a command');
  // In a list the name and the summary are enough: arguments are in the usage line of each verb.
  command.configureHelp({ subcommandTerm: (child) => child.name(), optionDescription });
  command.configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.err(text.trimEnd()),
    outputError: (text, write) => write(withMeant(text, command)),
    getOutHelpWidth: () => Math.min(HELP_COLUMNS, terminal.columns),
    getErrHelpWidth: () => Math.min(HELP_COLUMNS, terminal.columns),
    getOutHasColors: () => terminal.colour,
    getErrHasColors: () => terminal.colour,
  });
  for (const child of command.commands) prepare(child, terminal);
}
