// What `svc complete -- <words>` prints: a line for each word that may come next, `value<Tab>description`, and at the end
// `:4`, or `:0` if the shell should offer files. The scripts of cobra and tab use the same format, so completion through
// them (`npm exec svc-monitor`) works.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCompletions, type Offered, VOCABULARY_FILE, type Vocabulary } from './find-completions.ts';
import {
  type DaemonKind,
  daemonKinds,
  isPlainValue,
  type StaticKind,
  staticKinds,
  type ValueKind,
} from './value-kinds.ts';

/** The vocabulary of the build, or of the source. `folder` is the one of this file: `…/dist` in a build. */
export async function readVocabulary(folder: string = import.meta.dirname): Promise<Vocabulary> {
  const file = join(folder, VOCABULARY_FILE);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Vocabulary;
  // Slower, but always up to date with the source.
  const { makeVocabulary } = await import('./make-vocabulary.ts');
  return makeVocabulary();
}

const FILES = ':0';
const NO_FILES = ':4';
/** No one reads more, and a shell asks before it shows so many. */
const MOST_LINES = 1_000;

export async function answerCompletion(
  words: readonly string[],
  known: Vocabulary,
  ask: (kind: DaemonKind) => Promise<readonly Offered[]>,
): Promise<string[]> {
  const { typed, offered, kind } = findCompletions(known.program, words);
  const names = kind === undefined ? [] : await lookUp(kind, known, ask);
  const lines = new Map<string, string>();
  for (const { value, description } of [...offered, ...names])
    if (value.startsWith(typed) && isPlainValue(value) && !lines.has(value))
      lines.set(value, description === '' ? value : `${value}\t${description}`);
  return [...[...lines.values()].slice(0, MOST_LINES), kind === 'file' ? FILES : NO_FILES];
}

async function lookUp(
  kind: ValueKind,
  { values }: Vocabulary,
  ask: (kind: DaemonKind) => Promise<readonly Offered[]>,
): Promise<readonly Offered[]> {
  if (isOneOf(staticKinds, kind)) return values[kind];
  return isOneOf(daemonKinds, kind) ? ask(kind) : [];
}

function isOneOf<Kind extends StaticKind | DaemonKind>(
  kinds: readonly Kind[],
  kind: ValueKind,
): kind is Kind {
  return kinds.some((one) => one === kind);
}
