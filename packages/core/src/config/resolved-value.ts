// A value and where it came from.
import type { FieldNode, KeyPath } from './tree.ts';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type ValueSource =
  | { kind: 'environment'; variable: string }
  | { kind: 'file'; file: string; line: number | undefined; writtenAs: string; deprecated: boolean }
  /** What the file gives is invalid, or the file cannot be read: the value that it gave before holds. */
  | { kind: 'last-good'; file: string }
  | { kind: 'default' }
  | { kind: 'unset' };

/** A place where a value was looked for. */
export type LookedAt = { where: string; found: boolean; value?: unknown; note?: string };

export type ResolvedValue = {
  key: string;
  path: KeyPath;
  field: FieldNode;
  value: unknown;
  source: ValueSource;
  lookedAt: LookedAt[];
  /** What the file gives is invalid, and nothing valid was known before: the value is a guess. */
  uncertain?: true;
};
