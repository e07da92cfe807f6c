// A value and where it came from.
import type { FieldNode, KeyPath } from './tree.ts';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type ValueSource =
  | { kind: 'environment'; variable: string }
  | { kind: 'file'; file: string; line: number | undefined; writtenAs: string; deprecated: boolean }
  /** The value in the file is invalid, or the file cannot be read: the earlier value stays in use. */
  | { kind: 'last-good'; file: string }
  | { kind: 'default' }
  | { kind: 'unset' };

/** A file or variable that was checked for a value. */
export type LookedAt = { where: string; found: boolean; value?: unknown; note?: string };

export type ResolvedValue = {
  key: string;
  path: KeyPath;
  field: FieldNode;
  value: unknown;
  source: ValueSource;
  lookedAt: LookedAt[];
  /** The value in the file is invalid and no earlier valid one is known: this value is a guess. */
  uncertain?: true;
};
