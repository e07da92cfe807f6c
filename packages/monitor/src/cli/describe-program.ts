// The one walk over the command line: every verb, argument, option, example and route as plain data. Completion
// and the reference of verbs are made from it, so that neither can say something else than `--help`.
import type { EventEmitter } from 'node:events';
import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { helpOf, verbWords } from './verb.ts';

/** What follows a verb, or an option that takes a value. */
export type DescribedValue = {
  name: string;
  /** As help writes it: `<ticket>`, `[tickets...]`. */
  placeholder: string;
  required: boolean;
  variadic: boolean;
  /** All that it may be, where that is a closed list; else empty. */
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
  /** The verb refuses to run without it. */
  mandatory: boolean;
  /** As help would write it; null when there is none worth saying. */
  default: string | null;
};

export type DescribedVerb = {
  name: string;
  /** The words that call it, without `svc`; empty for the program itself. */
  path: readonly string[];
  /** `svc config set [options] <key> <value>` */
  usage: string;
  summary: string;
  arguments: readonly DescribedArgument[];
  options: readonly DescribedOption[];
  examples: readonly string[];
  /** The route of the daemon that it calls; null when it needs none. */
  route: string | null;
  /** What its help says besides, a block of lines each. */
  notes: readonly string[];
  verbs: readonly DescribedVerb[];
};

/**
 * The whole program, as help shows it: what is hidden there is left out, and so is commander's own `help`.
 *
 *     everyVerb(describeProgram(buildProgram(terminal))).map(({ usage }) => usage)
 */
export function describeProgram(program: CommandUnknownOpts): DescribedVerb {
  return describeVerb(program, []);
}

/** The verb and all below it, each before its own verbs. */
export function everyVerb(verb: DescribedVerb): DescribedVerb[] {
  return [verb, ...verb.verbs.flatMap(everyVerb)];
}

function describeVerb(command: CommandUnknownOpts, path: readonly string[]): DescribedVerb {
  const help = command.createHelp();
  const words = verbWords(command);
  return {
    name: command.name(),
    path,
    usage: help.commandUsage(command),
    summary: command.summary() === '' ? command.description() : command.summary(),
    arguments: command.registeredArguments.map(describeArgument),
    options: help.visibleOptions(command).map(describeOption),
    examples: words === undefined ? [] : [words.example].flat(),
    route: words?.route ?? null,
    notes: notesOf(command),
    verbs: help
      .visibleCommands(command)
      .filter((child) => verbWords(child) !== undefined)
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
  // Commander keeps of the placeholder only that there is one.
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

/** An empty list and an empty text are how a verb says "none"; a description may say it better than the value. */
function defaultText(
  option: Pick<Option, 'description' | 'defaultValue' | 'defaultValueDescription'>,
): string | null {
  if (option.description.includes('(default: ')) return null;
  if (option.defaultValueDescription !== undefined) return option.defaultValueDescription;
  const value: unknown = option.defaultValue;
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The texts that stand below the help, without the examples and the route, which are told by themselves. */
function notesOf(command: CommandUnknownOpts): string[] {
  const words = verbWords(command);
  const own = words === undefined ? undefined : helpOf(words).trim();
  const texts: string[] = [];
  // A command is an emitter, which its types leave out; its help is made of these events.
  const emitter = command as unknown as EventEmitter;
  emitter.emit('afterHelp', { error: false, command, write: (text: string) => texts.push(text.trim()) });
  return texts.filter((text) => text !== own);
}
