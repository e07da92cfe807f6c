// A verb of the command line: what it does, an example, the route that it calls where it has one.
// Help shows all three, and a verb cannot be added without them.
import { type Command, type CommandUnknownOpts, createCommand } from '@commander-js/extra-typings';

export type VerbWords = { summary: string; example: string | readonly string[]; route?: string };

/** Commander keeps only the finished help text; completion and the reference need the words that it was made of. */
const wordsOf = new WeakMap<object, VerbWords>();

/** A verb with its help. Arguments, options and the action are added by the caller. */
export function verb(name: string, words: VerbWords): Command {
  const made = createCommand(name)
    .summary(words.summary)
    .description(words.summary)
    .addHelpText('after', helpOf(words));
  wordsOf.set(made, words);
  return made;
}

/** A group of verbs, which by itself does nothing. */
export function verbGroup(
  name: string,
  words: VerbWords,
  verbs: readonly CommandUnknownOpts[],
): CommandUnknownOpts {
  const group = verb(name, words);
  for (const child of verbs) group.addCommand(child);
  return group;
}

/** What a verb was made with; undefined for a command that commander made itself. */
export function verbWords(command: CommandUnknownOpts): VerbWords | undefined {
  return wordsOf.get(command);
}

/** The lines below the options in the verb's help. */
export function helpOf(words: VerbWords): string {
  const examples = [words.example].flat().map((example) => `  $ ${example}`);
  const route = words.route === undefined ? [] : ['', `Route: ${words.route}`];
  return ['', 'Example:', ...examples, ...route].join('\n');
}
