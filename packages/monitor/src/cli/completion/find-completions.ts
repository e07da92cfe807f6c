// What may come next in a command line. Pure; it reads the words as commander does, so what is offered would be accepted.
import type {
  DescribedArgument,
  DescribedOption,
  DescribedValue,
  DescribedVerb,
} from '../describe-program.ts';
import { kindAt, type StaticKind, type ValueKind } from './value-kinds.ts';

export type Offered = { value: string; description: string };

export type Completions = {
  /** The part of the current word to complete: `pro` of `--layer=pro`. */
  typed: string;
  /** Verbs, options and closed lists. */
  offered: Offered[];
  /** Other values that are allowed here, to be looked up. */
  kind: ValueKind | undefined;
};

type Reading = {
  verb: DescribedVerb;
  /** Number of arguments before the cursor. */
  given: number;
  /** The option whose value comes next; with `must` even when it starts with a dash. */
  open: { option: DescribedOption; value: DescribedValue; must: boolean } | undefined;
  /** After `--` a dash has no meaning. */
  plain: boolean;
};

/** `words` are those after `svc`; the last one is being typed and may be empty. */
export function findCompletions(program: DescribedVerb, words: readonly string[]): Completions {
  const start: Reading = { verb: program, given: 0, open: undefined, plain: false };
  const { verb, given, open, plain } = words.slice(0, -1).reduce(readWord, start);
  const typed = words.at(-1) ?? '';
  const isDashed = !plain && typed.startsWith('-');
  if (open !== undefined && (open.must || !isDashed)) return valueCompletions(verb, open.option, typed);
  if (isDashed) return optionCompletions(verb, typed);
  const argument = verb.arguments[given] ?? lastIfVariadic(verb);
  const verbs = given === 0 ? verb.verbs : [];
  // If nothing else can follow, offer the options.
  if (argument === undefined && verbs.length === 0 && !plain) return optionCompletions(verb, typed);
  return {
    typed,
    offered: [
      ...verbs.map(({ name, summary }) => ({ value: name, description: summary })),
      ...choicesOf(argument),
    ],
    kind: argument && kindOf(verb, argument.name, argument),
  };
}

function readWord(reading: Reading, word: string): Reading {
  const { verb, given, open, plain } = reading;
  const next = open?.value.variadic === true ? { ...open, must: false } : undefined;
  if (open?.must === true) return { ...reading, open: next };
  if (!plain && word === '--') return { ...reading, open: undefined, plain: true };
  if (!plain && word.startsWith('-') && word !== '-') return { ...reading, open: opened(verb, word) };
  if (open !== undefined) return { ...reading, open: next };
  const child = given === 0 ? verb.verbs.find(({ name }) => name === word) : undefined;
  return child === undefined ? { ...reading, given: given + 1 } : { ...reading, verb: child };
}

function opened(verb: DescribedVerb, name: string): Reading['open'] {
  const option = optionNamed(verb, name);
  if (option === undefined || option.value === null) return undefined;
  return { option, value: option.value, must: option.value.required };
}

/** The name of an option, or its value after `--name=`. */
function optionCompletions(verb: DescribedVerb, typed: string): Completions {
  const end = typed.indexOf('=');
  if (end === -1) return { typed, offered: verb.options.flatMap(namesOf), kind: undefined };
  return valueCompletions(verb, optionNamed(verb, typed.slice(0, end)), typed.slice(end + 1));
}

function valueCompletions(
  verb: DescribedVerb,
  option: DescribedOption | undefined,
  typed: string,
): Completions {
  const value = option?.value ?? undefined;
  const kind = value && kindOf(verb, option?.long ?? option?.short ?? '', value);
  return { typed, offered: choicesOf(value), kind };
}

/** A fixed list is complete. */
function kindOf(verb: DescribedVerb, name: string, value: DescribedValue): ValueKind | undefined {
  return value.choices.length > 0 ? undefined : kindAt(verb, name, value);
}

function optionNamed({ options }: DescribedVerb, name: string): DescribedOption | undefined {
  return options.find(({ long, short }) => long === name || short === name);
}

function namesOf({ long, short, description }: DescribedOption): Offered[] {
  return [long, short].filter((name) => name !== null).map((value) => ({ value, description }));
}

function choicesOf(value: DescribedValue | undefined): Offered[] {
  return (value?.choices ?? []).map((choice) => ({ value: choice, description: '' }));
}

function lastIfVariadic({ arguments: all }: DescribedVerb): DescribedArgument | undefined {
  const last = all.at(-1);
  return last?.variadic === true ? last : undefined;
}

// What completion knows without the daemon: the verbs and the fixed lists of values. A build writes it to a file, because
// reading that takes a millisecond and loading every verb a hundred.

export const VOCABULARY_FILE = 'completion.json';

export type Vocabulary = { program: DescribedVerb; values: Readonly<Record<StaticKind, readonly Offered[]>> };
