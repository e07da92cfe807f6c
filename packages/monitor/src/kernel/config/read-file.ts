// Reads one parsed configuration file by the schema: the fields that it sets, and the unknown keys.
import { canonicalKey } from '@svc/contract/vendor-names';
import { nearest } from '@svc/lib/nearest';
import type { Configuration, Guard } from './configuration.ts';
import { type Deprecation, deprecationOf } from './deprecations.ts';
import { isHidden, layerTitles } from './field.ts';
import { formatKey } from './key-path.ts';
import { type ConfigProblem, describeFound } from './problems.ts';
import type { ConfigFile, FileEntry } from './resolved-value.ts';
import { secretKind } from './secret-shapes.ts';
import { acceptValue, type ConfigNode, type FieldNode, type KeyPath } from './tree.ts';

/**
 * `names`: the paths of the members of keyed groups, also of empty ones. `invalid`: the fields and groups that the file
 * sets to an invalid value; the whole file if it cannot be read. `doubtful`: what it may have tried to set under an
 * unknown key. `refused`: the fields of members whose name is not valid.
 */
export type FileReading = {
  entries: FileEntry[];
  refused: FileEntry[];
  names: KeyPath[];
  problems: ConfigProblem[];
  invalid: KeyPath[];
  doubtful: KeyPath[];
};

export function readConfigFile(configuration: Configuration, file: ConfigFile): FileReading {
  const reading = emptyReading();
  if (file.data === undefined) return { ...reading, invalid: [[]] };
  if (file.layers.includes('project')) findSecrets(file, file.data, [], reading.problems);
  visit(configuration, file, configuration.tree, [], [], file.data, reading);
  return reading;
}

function emptyReading(): FileReading {
  return { entries: [], refused: [], names: [], problems: [], invalid: [], doubtful: [] };
}

function visit(
  configuration: Configuration,
  file: ConfigFile,
  node: ConfigNode,
  path: KeyPath,
  written: KeyPath,
  data: unknown,
  reading: FileReading,
): void {
  if (node.kind === 'field') return takeField(configuration, file, node, path, written, data, reading);
  if (!isObject(data)) {
    reading.problems.push(mistyped(file, written, 'an object', describeFound(data)));
    reading.invalid.push(path);
    return;
  }
  for (const name of Object.keys(data)) {
    if (path.length === 0 && name === '$schema') continue;
    visitChild(configuration, file, node, path, [...written, name], data[name], reading);
  }
}

function visitChild(
  configuration: Configuration,
  file: ConfigFile,
  node: Exclude<ConfigNode, FieldNode>,
  path: KeyPath,
  written: KeyPath,
  data: unknown,
  reading: FileReading,
): void {
  const name = written.at(-1) ?? '';
  if (node.kind === 'keyed') {
    const canonical = currentName(configuration, file, path, name);
    if (node.name.safeParse(canonical).success) {
      reading.names.push([...path, canonical]);
      return visit(configuration, file, node.child, [...path, canonical], written, data, reading);
    }
    reading.problems.push(wrongName(file, written));
    reading.invalid.push(path, [...path, name]);
    const inside = emptyReading();
    visit(configuration, file, node.child, [...path, name], written, data, inside);
    reading.refused.push(...inside.entries);
    return;
  }
  const current = currentName(configuration, file, path, name);
  const child = node.children.get(current);
  if (child) return visit(configuration, file, child, [...path, current], written, data, reading);
  const meant = nearest(name, node.children.keys());
  if (
    file.layers.includes('global') &&
    (holdsFolders(data) || formatKey([...path, meant ?? '']) === formatKey(listPath))
  ) {
    reading.problems.push(misplacedList(file, written));
    reading.invalid.push(listPath);
  } else reading.problems.push(unknownKey(file, written, meant));
  if (meant !== undefined) reading.invalid.push([...path, meant]);
  const { guard } = configuration;
  if (guard === undefined) return;
  if (isMember(guard, path)) reading.invalid.push(path);
  if (holdsMembers(guard, data)) reading.invalid.push(guard.path);
  if (guard.path.join('.').startsWith(path.join('.'))) reading.doubtful.push(guard.path);
}

const listPath: KeyPath = ['svc', 'projects'];

/** Whether the value looks like the list of projects, or like something around it. */
function holdsFolders(data: unknown): boolean {
  if (Array.isArray(data))
    return data.some((item) => typeof item === 'string' && /^[/~.]|^[A-Za-z]:[\\/]/.test(item));
  return (
    isObject(data) && Object.entries(data).some(([key, value]) => key === 'projects' || holdsFolders(value))
  );
}

/** In a member of the guarded group. An unknown key in it may be any of its fields, misspelt. */
export function isMember(guard: Guard | undefined, path: KeyPath): boolean {
  return (
    guard !== undefined &&
    path.length > guard.path.length &&
    guard.path.every((name, index) => path[index] === name)
  );
}

/** Whether the value looks like the contents of the misspelt group, or of a misspelt group around it. */
function holdsMembers(guard: Guard, data: unknown): boolean {
  return isObject(data) && Object.keys(data).some((key) => key === guard.path.at(-1) || guard.isMember(key));
}

/** The current name of a key below a path: vendor names and renamed keys are replaced. Names may contain dots. */
function currentName(configuration: Configuration, file: ConfigFile, path: KeyPath, name: string): string {
  const around = path.map((above) => `${above}.`).join('');
  const key = canonicalKey(`${around}${name}`);
  return (deprecationOf(configuration.deprecations, key, file.layers)?.replacement ?? key).slice(
    around.length,
  );
}

function takeField(
  configuration: Configuration,
  file: ConfigFile,
  field: FieldNode,
  path: KeyPath,
  written: KeyPath,
  value: unknown,
  reading: FileReading,
): void {
  const deprecation = deprecationOf(
    configuration.deprecations,
    canonicalKey(formatKey(written)),
    file.layers,
  );
  // Prefer a layer that is read from this file over one that is only allowed in it.
  const layer =
    field.layers.find((candidate) => file.reads.includes(candidate)) ??
    field.layers.find((candidate) => file.layers.includes(candidate));
  if (layer === undefined && deprecation === undefined) {
    reading.problems.push(wrongFile(file, field, written));
    return;
  }
  const accepted = acceptValue(field, value);
  if (!accepted.ok) {
    const inside = accepted.inside === undefined ? '' : ` (${accepted.inside})`;
    const found = `${describeFound(value, isHidden(field))}${inside}`;
    reading.problems.push(mistyped(file, written, field.expects, found));
    reading.invalid.push(path);
    return;
  }
  if (deprecation) reading.problems.push(deprecated(file, written, deprecation));
  reading.entries.push({
    path,
    field,
    value: accepted.value,
    file,
    layer: layer ?? field.layers[0],
    line: file.lineOf(written),
    writtenAs: formatKey(written),
    deprecation,
  });
}

function findSecrets(file: ConfigFile, data: unknown, path: KeyPath, problems: ConfigProblem[]): void {
  if (isObject(data)) {
    for (const name of Object.keys(data)) findSecrets(file, data[name], [...path, name], problems);
    return;
  }
  if (Array.isArray(data)) {
    for (const item of data) findSecrets(file, item, path, problems);
    return;
  }
  const kind = secretKind(path.at(-1) ?? '', data);
  if (kind === undefined) return;
  problems.push({
    ...at(file, path),
    severity: 'error',
    code: 'secret-in-project-file',
    message: `looks like ${kind}, but this file is committed.`,
    remedy:
      path.at(-2) === 'env'
        ? `Remove it, revoke it, set a new one in the daemon's environment, and add its name to svc.orchestration.agentEnv`
        : `Remove it, revoke it, and store a new one: svc config set --layer secrets ${formatKey(path)} -`,
  });
}

function at(file: ConfigFile, written: KeyPath): Pick<ConfigProblem, 'file' | 'line' | 'key'> {
  return { file: file.path, line: file.lineOf(written), key: formatKey(written) };
}

function mistyped(file: ConfigFile, written: KeyPath, expected: string, found: string): ConfigProblem {
  const message = `expected ${expected}, found ${found}.`;
  return { ...at(file, written), severity: 'error', code: 'wrong-type', message };
}

function wrongName(file: ConfigFile, written: KeyPath): ConfigProblem {
  const name = written.at(-1) ?? '';
  const message = `${JSON.stringify(name)} is not a valid name here.`;
  const remedy = name.endsWith('.git')
    ? `Write ${JSON.stringify(name.slice(0, -'.git'.length))}.`
    : undefined;
  return { ...at(file, written), severity: 'error', code: 'wrong-name', message, remedy };
}

function unknownKey(file: ConfigFile, written: KeyPath, meant: string | undefined): ConfigProblem {
  const remedy = meant === undefined ? undefined : `Did you mean ${meant}?`;
  return {
    ...at(file, written),
    severity: 'ignored',
    code: 'unknown-key',
    message: 'unknown key.',
    remedy,
  };
}

/** An error: without the list it is not known which projects there are. */
function misplacedList(file: ConfigFile, written: KeyPath): ConfigProblem {
  const message = 'unknown key, which looks like the list of projects.';
  const remedy = `Write the list under ${formatKey(listPath)}, or remove the key.`;
  return { ...at(file, written), severity: 'error', code: 'unknown-key', message, remedy };
}

function wrongFile(file: ConfigFile, field: FieldNode, written: KeyPath): ConfigProblem {
  const [home] = field.layers;
  return {
    ...at(file, written),
    severity: 'ignored',
    code: 'wrong-file',
    message: `is not read from this file; it belongs in the ${layerTitles[home]}.`,
    remedy: `Move it: svc config set --layer ${home} ${formatKey(written)} ${field.secret ? '-' : '<value>'}`,
  };
}

function deprecated(file: ConfigFile, written: KeyPath, entry: Deprecation): ConfigProblem {
  const message = `is deprecated here and stops working in version ${entry.removedIn}.`;
  return { ...at(file, written), severity: 'deprecated', code: 'deprecated', message, remedy: entry.remedy };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
