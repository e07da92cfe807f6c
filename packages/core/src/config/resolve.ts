// From files and environment to one configuration in which every value knows where it came from.
// Precedence for each field: its environment variable, then its files in the order the field names
// them, then deprecated names and places, then the default. `false` and `null` are values like any other.
import { crossChecks } from './checks.ts';
import { isHidden } from './field.ts';
import { formatKey } from './key-path.ts';
import { layerTitles } from './layers.ts';
import { type ConfigProblem, describeFound } from './problems.ts';
import { type ConfigFile, type FileEntry, readConfigFile } from './read-file.ts';
import type { LookedAt, ResolvedValue, ValueSource } from './resolved-value.ts';
import { Config } from './schema/config.ts';
import { valueFromText } from './text-value.ts';
import { configTree, type FieldNode, fieldsBelow, type KeyPath } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Resolution = {
  /** Undefined when a problem is an error. */
  config: Config | undefined;
  values: ResolvedValue[];
  problems: ConfigProblem[];
};

export function resolveConfig(files: readonly ConfigFile[], environment: Environment): Resolution {
  const readings = files.map(readConfigFile);
  const problems = readings.flatMap((reading) => reading.problems);
  const names = readings.flatMap((reading) => reading.names);
  const entriesByKey = Map.groupBy(
    readings.flatMap((reading) => reading.entries),
    (entry) => formatKey(entry.path),
  );
  const values = fieldsBelow(configTree, [], (path) => namesBelow(path, names)).map(({ path, field }) =>
    resolveField(path, field, entriesByKey.get(formatKey(path)) ?? [], files, environment, problems),
  );
  problems.push(...crossChecks(values));
  const broken = problems.some((problem) => problem.severity === 'error');
  return { config: broken ? undefined : Config.parse(nest(values)), values, problems };
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

/** Files in the field's order; within a file the neutral name before a vendor's word; deprecated last. */
function rank(entry: FileEntry): number {
  const byVendorWord = entry.writtenAs === formatKey(entry.path) ? 0 : 1;
  return entry.field.layers.indexOf(entry.layer) * 10 + byVendorWord + (entry.deprecation ? 100 : 0);
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
      lookedAt.push({ where: placeOf(entry), found: true, value: entry.value, ...noteOf(entry) });
    if (here.length === 0 && field.layers.some((layer) => file.reads.includes(layer))) {
      lookedAt.push({ where: file.path, found: false });
    }
  }
}

function placeOf(entry: FileEntry): string {
  return entry.line === undefined ? entry.file.path : `${entry.file.path}:${entry.line}`;
}

function noteOf(entry: FileEntry): { note?: string } {
  if (entry.deprecation) return { note: `deprecated as ${entry.writtenAs} here` };
  if (entry.file.reads.includes(entry.layer)) return {};
  return { note: `not used: the project has a ${layerTitles[entry.layer]} of its own` };
}

/** One file giving one field under two names: the current name wins, and that is said. */
function reportTwice(ranked: readonly FileEntry[], problems: ConfigProblem[]): void {
  const [winner, ...others] = ranked;
  for (const other of others) {
    if (winner === undefined || other.file !== winner.file) continue;
    const message = `is given twice in this file; ${winner.writtenAs} is used.`;
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
