// A value and where it came from.
import type { Deprecation } from './deprecations.ts';
import type { Layer } from './field.ts';
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

export type ConfigFile = {
  path: string;
  /** The layers that the file may hold. The global file also holds the secrets of projects without a secrets file. */
  layers: readonly Layer[];
  /** The layers that are read from it; a subset of `layers`. */
  reads: readonly Layer[];
  /** Undefined if the file exists but cannot be read. */
  data: unknown;
  /** Line of a key in the file, for messages. */
  lineOf: (path: KeyPath) => number | undefined;
};

/** One field's value in one file. */
export type FileEntry = {
  path: KeyPath;
  field: FieldNode;
  value: unknown;
  file: ConfigFile;
  layer: Layer;
  line: number | undefined;
  writtenAs: string;
  deprecation: Deprecation | undefined;
};
