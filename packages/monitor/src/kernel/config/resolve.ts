// Merges files and environment into one configuration in which every value has a source. Precedence for each field:
// its environment variable, then its files in the field's order, then deprecated keys and locations, then the default.
// `false` and `null` are values like any other. An invalid value affects only its own key: the last good value of that
// key stays in use, if there was one.
import type { Applied, Config, Configuration, Guard } from './configuration.ts';
import { isHidden, layerTitles } from './field.ts';
import { formatKey } from './key-path.ts';
import { type ConfigProblem, describeFound } from './problems.ts';
import { isMember, readConfigFile } from './read-file.ts';
import type {
  ConfigFile,
  Environment,
  FileEntry,
  LookedAt,
  ResolvedValue,
  ValueSource,
} from './resolved-value.ts';
import {
  acceptValue,
  type CataloguedField,
  type FieldNode,
  fieldsBelow,
  type GroupNode,
  type KeyPath,
} from './tree.ts';

export type Resolution = {
  /** Undefined when a problem is an error. */
  config: Config | undefined;
  /** Usable despite errors: invalid values are replaced by the last good ones, or by defaults. */
  usable: Config;
  /** What is logged of it. */
  applied: Applied;
  values: ResolvedValue[];
  problems: ConfigProblem[];
};

/** Values that were valid at an earlier read of the files, by key. */
export type LastGood = ReadonlyMap<string, { path: KeyPath; value: unknown }>;

type Invalid = { file: ConfigFile; path: KeyPath };

export function resolveConfig(
  configuration: Configuration,
  files: readonly ConfigFile[],
  environment: Environment,
  lastGood: LastGood = new Map(),
): Resolution {
  const { tree, parts, guard } = configuration;
  const readings = files.map((file) => readConfigFile(configuration, file));
  const problems = readings.flatMap((reading) => reading.problems);
  const invalid = readings.flatMap((reading, index) =>
    [...reading.invalid, ...(lastGood.size > 0 ? reading.doubtful : [])].map((path) => ({
      file: files[index] as ConfigFile,
      path,
    })),
  );
  const names = readings.flatMap((reading) => reading.names);
  const entriesByKey = Map.groupBy(
    readings.flatMap((reading) => reading.entries),
    (entry) => formatKey(entry.path),
  );
  const fields = fieldsBelow(tree, [], (path) => namesBelow(path, names));
  const values = [...fields, ...goneFields(tree, fields, invalid, lastGood)].map(
    ({ path, field }): ResolvedValue => {
      const key = formatKey(path);
      const found = resolveField(path, field, entriesByKey.get(key) ?? [], files, environment, problems);
      const wrong = isGiven(found) ? undefined : invalid.find((one) => concerns(one, path, field));
      if (wrong === undefined) return found;
      if (!wasKnown(guard, path, lastGood)) return { ...found, uncertain: true };
      const { value } = lastGood.get(key) ?? { value: field.default };
      return { ...found, value, source: { kind: 'last-good', file: wrong.file.path } };
    },
  );
  const entries = readings.flatMap((reading) => reading.entries);
  problems.push(...parts.flatMap(({ check }) => check?.(values, entries) ?? []));
  const usable = configuration.schema.parse(nest(values));
  const broken = new Set(problems.flatMap(({ severity, file }) => (severity === 'error' ? [file] : [])));
  const resolved = {
    config: usable,
    values,
    // Whatever is known from before: the file may name further members now.
    isUnknown: readings.some((reading, index) =>
      reading.invalid.some(
        (path) =>
          guard !== undefined &&
          concerns({ file: files[index] as ConfigFile, path }, guard.path, { layers: ['project'] }),
      ),
    ),
    isValid: (file: string) => !broken.has(file),
    invalid: invalid.map(({ path }) => path),
    refused: readings.flatMap((reading) => reading.refused),
  };
  const applied = Object.assign({}, ...parts.map((part) => part.applied?.of(resolved))) as Applied;
  return { config: broken.size > 0 ? undefined : usable, usable, applied, values, problems };
}

/** Members of keyed groups that the last good configuration had, if the group that should hold them is invalid. */
function goneFields(
  tree: GroupNode,
  present: readonly CataloguedField[],
  invalid: readonly Invalid[],
  lastGood: LastGood,
): CataloguedField[] {
  if (invalid.length === 0 || lastGood.size === 0) return [];
  const known = new Set(present.map(({ path }) => formatKey(path)));
  const names = [...lastGood.values()].flatMap(({ path }) => path.map((_, end) => path.slice(0, end + 1)));
  return fieldsBelow(tree, [], (path) => namesBelow(path, names)).filter(
    ({ path, field }) => !known.has(formatKey(path)) && invalid.some((one) => concerns(one, path, field)),
  );
}

/** A key that the last good configuration did not set had its default then; an unnamed member of the guarded group is new. */
function wasKnown(guard: Guard | undefined, path: KeyPath, lastGood: LastGood): boolean {
  if (guard === undefined || !isMember(guard, path)) return lastGood.size > 0;
  const at = guard.path.length;
  return [...lastGood.values()].some(({ path: known }) => isMember(guard, known) && known[at] === path[at]);
}

function isGiven({ source }: ResolvedValue): boolean {
  return source.kind === 'environment' || source.kind === 'file';
}

/** Whether the invalid part of a file is this field, or a group around it. */
function concerns(wrong: Invalid, field: KeyPath, { layers }: Pick<FieldNode, 'layers'>): boolean {
  return layers.some((layer) => wrong.file.reads.includes(layer)) && isAround(wrong, field);
}

function isAround({ path }: Invalid, key: KeyPath): boolean {
  return path.every((name, index) => key[index] === name);
}

function namesBelow(path: KeyPath, names: readonly KeyPath[]): Set<string> {
  const below = names.filter((name) => formatKey(name.slice(0, -1)) === formatKey(path));
  return new Set(below.map((name) => name.at(-1) ?? ''));
}

function resolveField(
  path: KeyPath,
  field: FieldNode,
  entries: readonly FileEntry[],
  files: readonly ConfigFile[],
  environment: Environment,
  problems: ConfigProblem[],
): ResolvedValue {
  const key = formatKey(path);
  const lookedAt: LookedAt[] = [];
  const fromEnvironment = lookInEnvironment(key, field, environment, lookedAt, problems);
  const usable = entries.filter(
    (entry) => entry.deprecation !== undefined || entry.file.reads.includes(entry.layer),
  );
  const ranked = usable.toSorted((a, b) => rank(a) - rank(b));
  listFiles(field, entries, files, lookedAt);
  reportTwice(ranked, problems);
  const base = { key, path, field, lookedAt };
  if (fromEnvironment) return { ...base, ...fromEnvironment };
  const [winner] = ranked;
  if (winner) return { ...base, value: winner.value, source: sourceOf(winner) };
  return {
    ...base,
    value: field.default,
    source: { kind: field.default === undefined ? 'unset' : 'default' },
  };
}

/** Files in the field's order; within a file the neutral name before a vendor's name; deprecated keys last. */
function rank(entry: FileEntry): number {
  const byName = entry.deprecation ? 2 : entry.writtenAs === formatKey(entry.path) ? 0 : 1;
  return entry.field.layers.indexOf(entry.layer) * 10 + byName;
}

function sourceOf(entry: FileEntry): ValueSource {
  const { file, line, writtenAs } = entry;
  return { kind: 'file', file: file.path, line, writtenAs, deprecated: entry.deprecation !== undefined };
}

function lookInEnvironment(
  key: string,
  field: FieldNode,
  environment: Environment,
  lookedAt: LookedAt[],
  problems: ConfigProblem[],
): Pick<ResolvedValue, 'value' | 'source'> | undefined {
  if (field.env === undefined) return undefined;
  const where = `environment ${field.env}`;
  const text = environment[field.env];
  if (text === undefined || text === '') {
    lookedAt.push({ where, found: false, ...(text === '' && { note: 'empty counts as not set' }) });
    return undefined;
  }
  const read = valueFromText(field, text);
  if (read.ok) {
    lookedAt.push({ where, found: true, value: read.value });
    return { value: read.value, source: { kind: 'environment', variable: field.env } };
  }
  const message = `${field.env} overrides ${key}: expected ${read.expected}, found ${describeFound(text, isHidden(field))}.`;
  problems.push({ severity: 'error', code: 'wrong-type', file: 'environment', key: field.env, message });
  return undefined;
}

function listFiles(
  field: FieldNode,
  entries: readonly FileEntry[],
  files: readonly ConfigFile[],
  lookedAt: LookedAt[],
): void {
  for (const file of files) {
    const here = entries.filter((entry) => entry.file === file);
    for (const entry of here)
      lookedAt.push({ where: locationOf(entry), found: true, value: entry.value, ...noteOf(entry) });
    if (here.length === 0 && field.layers.some((layer) => file.reads.includes(layer))) {
      lookedAt.push({ where: file.path, found: false });
    }
  }
}

function locationOf(entry: FileEntry): string {
  return entry.line === undefined ? entry.file.path : `${entry.file.path}:${entry.line}`;
}

function noteOf(entry: FileEntry): { note?: string } {
  if (entry.deprecation) return { note: `deprecated as ${entry.writtenAs} here` };
  if (entry.file.reads.includes(entry.layer)) return {};
  return { note: `not used: the project has its own ${layerTitles[entry.layer]}` };
}

/** If one file sets a field under two names, the current name wins and the other is reported. */
function reportTwice(ranked: readonly FileEntry[], problems: ConfigProblem[]): void {
  const [winner, ...others] = ranked;
  for (const other of others) {
    if (winner === undefined || other.file !== winner.file) continue;
    const message = `is set twice in this file; ${winner.writtenAs} is used.`;
    problems.push({
      severity: 'ignored',
      code: 'given-twice',
      file: other.file.path,
      line: other.line,
      key: other.writtenAs,
      message,
    });
  }
}

function nest(values: readonly ResolvedValue[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path, value } of values) {
    if (value === undefined) continue;
    let place = root;
    for (const segment of path.slice(0, -1)) place = (place[segment] ??= {}) as Record<string, unknown>;
    place[path.at(-1) ?? ''] = value;
  }
  return root;
}

// A value written as text, in an environment variable or on the command line.

const yes = new Set(['true', '1', 'yes', 'on']);
const no = new Set(['false', '0', 'no', 'off']);

export type TextValue = { ok: true; value: unknown } | { ok: false; expected: string };

/** Reads text as the field's kind: a string stays a string even when it looks like a number. */
export function valueFromText(field: FieldNode, text: string): TextValue {
  const readings = [
    ...(text === 'null' ? [null] : []),
    text,
    ...(yes.has(text.toLowerCase()) ? [true] : []),
    ...(no.has(text.toLowerCase()) ? [false] : []),
    ...jsonReading(text),
    text.split(',').map((item) => item.trim()),
  ];
  for (const reading of readings) {
    const accepted = acceptValue(field, reading);
    if (accepted.ok) return accepted;
  }
  return { ok: false, expected: field.expects };
}

function jsonReading(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
