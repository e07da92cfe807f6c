// The vocabulary of this svc: that of its build, or of its source.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VOCABULARY_FILE, type Vocabulary } from './vocabulary.ts';

/** `folder` is that of this file: `…/dist` in a build, which is the only one that has the file. */
export async function readVocabulary(folder: string = import.meta.dirname): Promise<Vocabulary> {
  const text = readIfThere(join(folder, VOCABULARY_FILE));
  if (text !== undefined) return JSON.parse(text) as Vocabulary;
  // Slower, and never behind the source.
  const { makeVocabulary } = await import('./make-vocabulary.ts');
  return makeVocabulary();
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
