// What `--version` and `--help` print, as the build has recorded it: nothing else is loaded for them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from './version.ts';

export const HELP_FILE = 'help.json';
/** The width that help is made for. A narrower terminal gets its own. */
export const HELP_COLUMNS = 80;

/** The help of every verb by its words; the program itself has none. */
export type RecordedHelp = Readonly<Record<string, string>>;

/** Undefined if the words ask for something else, or if there is no record: then the program answers. */
export function recordedAnswer(
  words: readonly string[],
  columns: number,
  folder: string = import.meta.dirname,
): string | undefined {
  if (words.length === 1 && isOneOf(words, '--version', '-V')) return VERSION;
  const file = join(folder, HELP_FILE);
  const verb = verbAskedFor(words);
  if (verb === undefined || columns < HELP_COLUMNS || !existsSync(file)) return undefined;
  const known = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as RecordedHelp));
  return known.get(verb.join(' '));
}

/** `config set --help` and `config help set` ask for the help of `config set`. */
function verbAskedFor(words: readonly string[]): readonly string[] | undefined {
  if (isOneOf(words.slice(-1), '--help', '-h')) return words.slice(0, -1);
  const asks = isOneOf(words.slice(-2), 'help');
  return asks ? words.filter((word) => word !== 'help') : undefined;
}

function isOneOf(words: readonly string[], ...known: readonly string[]): boolean {
  return words.some((word) => known.includes(word));
}
