// What a state means to a person, and its words: the same on every screen and in every text.

/** The six meanings of docs/internals/design-language.md. */
export type Meaning = 'motion' | 'you' | 'broken' | 'proven' | 'review' | 'unknown';
export type StateLabel = { meaning: Meaning; words: string };

/** The words of a label in a line of text. */
export function inLine({ words }: { words: string }): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
