// The command line as plain data: every verb, argument, option, example and route. Completion and the reference of verbs
// are made from it, so neither can differ from `--help`.
import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { verbHelp } from './kit/verb.ts';

/** What follows a verb, or an option that takes a value. */
export type DescribedValue = {
  name: string;
  /** As help writes it: `<ticket>`, `[tickets...]`. */
  placeholder: string;
  required: boolean;
  variadic: boolean;
  /** The allowed values where there is a fixed list; otherwise empty. */
  choices: readonly string[];
};

export type DescribedArgument = DescribedValue & { description: string; default: string | null };

export type DescribedOption = {
  /** As help writes it: `-V, --version`, `--ticket <id>`. */
  flags: string;
  long: string | null;
  short: string | null;
  description: string;
  /** null for a switch. */
  value: DescribedValue | null;
  /** The verb does not run without it. */
  mandatory: boolean;
  /** As help would write it; null when there is none to show. */
  default: string | null;
};

export type DescribedVerb = {
  name: string;
  /** The words that call it, without `svc`; empty for the program itself. */
  path: readonly string[];
  /** `svc config set [options] <key> <value>` */
  usage: string;
  summary: string;
  /** What its help adds to the summary; empty when there is nothing. */
  details: string;
  arguments: readonly DescribedArgument[];
  options: readonly DescribedOption[];
  examples: readonly string[];
  /** The daemon's route that it calls; null when it calls none. */
  route: string | null;
  verbs: readonly DescribedVerb[];
};

/**
 * The whole program as help shows it, without hidden entries and without commander's own `help`.
 *
 *     everyVerb(describeProgram(await buildProgram(terminal))).map(({ usage }) => usage)
 */
export function describeProgram(program: CommandUnknownOpts): DescribedVerb {
  return describeVerb(program, []);
}

/** The verb and all verbs below it, parents first. */
export function everyVerb(verb: DescribedVerb): DescribedVerb[] {
  return [verb, ...verb.verbs.flatMap(everyVerb)];
}

function describeVerb(command: CommandUnknownOpts, path: readonly string[]): DescribedVerb {
  const help = command.createHelp();
  const texts = verbHelp(command);
  return {
    name: command.name(),
    path,
    usage: help.commandUsage(command),
    summary: command.summary() === '' ? command.description() : command.summary(),
    details: texts?.details ?? '',
    arguments: command.registeredArguments.map(describeArgument),
    options: help.visibleOptions(command).map(describeOption),
    examples: [texts?.example ?? []].flat(),
    route: texts?.route ?? null,
    verbs: help
      .visibleCommands(command)
      .filter((child) => verbHelp(child) !== undefined)
      .map((child) => describeVerb(child, [...path, child.name()])),
  };
}

function describeArgument(argument: Argument): DescribedArgument {
  const { required, variadic, description, argChoices } = argument;
  return {
    ...describeValue(argument.name(), { required, variadic, choices: argChoices }),
    description,
    default: defaultText(argument),
  };
}

function describeOption(option: Option): DescribedOption {
  const { flags, long, short, description, required, optional, variadic, mandatory, argChoices } = option;
  // Commander keeps only that there is a placeholder, not its name.
  const name = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(flags)?.[1];
  const takesValue = (required || optional) && name !== undefined;
  return {
    flags,
    long: long ?? null,
    short: short ?? null,
    description,
    value: takesValue ? describeValue(name, { required, variadic, choices: argChoices }) : null,
    mandatory,
    default: takesValue ? defaultText(option) : null,
  };
}

function describeValue(
  name: string,
  { required, variadic, choices }: { required: boolean; variadic: boolean; choices: string[] | undefined },
): DescribedValue {
  const inside = variadic ? `${name}...` : name;
  return {
    name,
    placeholder: required ? `<${inside}>` : `[${inside}]`,
    required,
    variadic,
    choices: choices ?? [],
  };
}

/** An empty list or text means "none"; a description that states the default itself wins. */
export function defaultText(
  option: Pick<Option, 'description' | 'defaultValue' | 'defaultValueDescription'>,
): string | null {
  if (option.description.includes('(default: ')) return null;
  if (option.defaultValueDescription !== undefined) return option.defaultValueDescription;
  const value: unknown = option.defaultValue;
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
