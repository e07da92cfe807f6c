// A verb of the command line: what it does, an example, and the route that it calls, if any. Help shows all of them, and a
// verb cannot be added without them.
import { type Command, type CommandUnknownOpts, createCommand } from '@commander-js/extra-typings';
import { HELP_COLUMNS } from './recorded-help.ts';

export type VerbHelp = {
  /** One line that starts with a verb: `Show the board`. Lists of verbs show it alone. */
  summary: string;
  /** Shown below the summary in the verb's own help. */
  details?: string;
  example: string | readonly string[];
  route?: string;
};

/** Commander keeps only the finished text; completion and the reference need its parts. */
const helpTexts = new WeakMap<object, VerbHelp>();

/** A verb with its help. Arguments, options and the action are added by the caller. */
export function verb(name: string, help: VerbHelp): Command {
  const { summary, details } = help;
  const command = createCommand(name)
    .summary(summary)
    .description(details === undefined ? summary : `${summary}.\n\n${details}`)
    .addHelpText('after', examplesAndRoute(help));
  helpTexts.set(command, help);
  return command;
}

/** For an option that can be given more than once. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** A verb that only has other verbs. */
export function verbGroup(
  name: string,
  help: VerbHelp,
  verbs: readonly CommandUnknownOpts[],
): CommandUnknownOpts {
  const group = verb(name, help);
  for (const child of verbs) group.addCommand(child);
  return group;
}

/** Undefined for a command that commander adds itself. */
export function verbHelp(command: CommandUnknownOpts): VerbHelp | undefined {
  return helpTexts.get(command);
}

function examplesAndRoute({ example, route }: VerbHelp): string {
  const examples = [example].flat().map((line) => `  $ ${line}`);
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  const routes = route === undefined ? [] : ['', routesText(route)];
  return ['', title, ...examples, ...routes].join('\n');
}

/** One below the other if a line is too short for them. */
function routesText(route: string): string {
  const text = `Route: ${route}`;
  return text.length > HELP_COLUMNS ? text.replaceAll(', ', ',\n       ') : text;
}
