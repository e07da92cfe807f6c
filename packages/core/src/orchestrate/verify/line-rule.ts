// A rule over one added line. Every pattern that a rule has must match. Patterns begin with a word that is written
// out and repeat nothing without bound inside a repetition, so that no line makes them slow.
import { type Language, languageOf } from './file-kind.ts';
import type { ScanKind, VerifySeverity } from './finding.ts';

export type LineRule = {
  kind: ScanKind;
  /** `first-in-test`: blocking as the first thing that a test does, advisory where it may depend on something. */
  severity: VerifySeverity | 'first-in-test';
  where: 'test' | 'production' | 'pipeline' | 'code';
  /** All when absent. */
  languages?: readonly Language[];
  code?: RegExp;
  comment?: RegExp;
  /** The line as it stands, texts and comments included. */
  raw?: RegExp;
  why: string;
};

export function isForLanguage({ languages }: LineRule, path: string): boolean {
  return languages === undefined || languages.includes(languageOf(path));
}
