// The configuration, of what each feature adds to it: keys, checks, deprecated keys, and what is logged of a project.
// The kernel knows no key by its name.
import type { z } from 'zod';
import type { Deprecation } from './deprecations.ts';
import type { ConfigProblem } from './problems.ts';
import type { FileEntry, ResolvedValue } from './resolved-value.ts';
import { type CataloguedField, fieldsBelow, type GroupNode, type KeyPath, rootOf } from './tree.ts';

/**
 * The values of all keys.
 * @public
 */
export interface Config {}

/**
 * What is logged of one project's configuration.
 * @public
 */
export interface Applied {}

/** A project whose configuration is read. */
export type StatingProject = { usable: Config; applied: Applied; files: { project: { file: string } } };

type Resolved = {
  config: Config;
  values: readonly Pick<ResolvedValue, 'path' | 'value' | 'source' | 'uncertain'>[];
  /** Whether part of the configuration that may state something cannot be read. */
  isUnknown: boolean;
  /** Whether a file has no error. */
  isValid: (file: string) => boolean;
  /** Parts of files that are invalid, and what members whose name is not valid set. */
  invalid: readonly KeyPath[];
  refused: readonly FileEntry[];
};

/** What a feature logs of each project. */
type AppliedPart = {
  of: (resolved: Resolved) => Partial<Applied>;
  /** What is logged of a project that is not served, or whose configuration cannot be read. */
  none?: Partial<Applied>;
  unknown?: Partial<Applied>;
};

/**
 * A group by names whose loss must not relax anything: while it, or what may be its misspelling, is invalid, what it states
 * is unknown, and a member that was not known before is not assumed to have had the defaults.
 */
export type Guard = {
  path: KeyPath;
  isMember: (name: string) => boolean;
  isUnknown: (applied: Applied, member: string) => boolean;
  /** The lowest is logged first: a decision that waits must not be taken by a laxer project of the same read. */
  laxness: (applied: Applied) => number;
};

export type ConfigPart = {
  /** Checks that involve more than one value. */
  check?: (values: readonly ResolvedValue[], entries: readonly FileEntry[]) => ConfigProblem[];
  /** Checks that involve more than one project. */
  checkProjects?: (projects: readonly StatingProject[], globalFile: string) => ConfigProblem[];
  deprecations?: readonly Deprecation[];
  applied?: AppliedPart;
  guard?: Guard;
};

export type Configuration = {
  schema: z.ZodType<Config>;
  tree: GroupNode;
  parts: readonly ConfigPart[];
  deprecations: readonly Deprecation[];
  guard: Guard | undefined;
  /** Every field, with a placeholder for the name in a keyed group: `svc.deploy.<name>.timeoutSec`. */
  allFields: () => CataloguedField[];
};

export function createConfiguration(schema: z.ZodType<Config>, parts: readonly ConfigPart[]): Configuration {
  const tree = rootOf(schema);
  return {
    schema,
    tree,
    parts,
    deprecations: parts.flatMap(({ deprecations = [] }) => deprecations),
    guard: parts.find(({ guard }) => guard !== undefined)?.guard,
    allFields: () => fieldsBelow(tree, [], () => ['<name>']),
  };
}
