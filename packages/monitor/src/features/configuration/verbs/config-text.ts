// Configuration values as text; `core` masks secrets.
import { sameJson } from '@svc/lib/canonical-json';
import { connectDaemon } from '../../../cli/kit/daemon-client.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { type Layer, layerTitles } from '../../../kernel/config/field.ts';
import { isField } from '../../../kernel/config/key-path.ts';
import type { ConfigFiles, LoadedConfig } from '../../../kernel/config/load.ts';
import { MASK, publicValue } from '../../../kernel/config/public-value.ts';
import { valueFromText } from '../../../kernel/config/resolve.ts';
import type { LookedAt, ResolvedValue } from '../../../kernel/config/resolved-value.ts';
import { secretKind } from '../../../kernel/config/secret-shapes.ts';
import type { FieldNode, KeyPath } from '../../../kernel/config/tree.ts';
import { Failure } from '../../../kernel/failure.ts';
import { findKey } from '../../configure.ts';
import { addressFingerprint } from '../../feeds/io/address-fingerprint.ts';
import type { ConfigEntry } from '../api.ts';
import { maskedValue, projectEntry, sourceText } from '../config-report.ts';

/** For the list of all values, which people paste elsewhere. */
export function shownText(resolved: ResolvedValue): string {
  return resolved.value === undefined
    ? '(not set)'
    : JSON.stringify(publicValue(resolved, addressFingerprint));
}

/** For one requested value. */
function valueText(resolved: ResolvedValue): string {
  return resolved.value === undefined ? '(not set)' : JSON.stringify(maskedValue(resolved));
}

export function explainLines(resolved: ResolvedValue, files: ConfigFiles): string[] {
  const { key, field, lookedAt } = resolved;
  const fallback = field.default === undefined ? '(none)' : JSON.stringify(field.default);
  return [
    `${key} = ${valueText(resolved)}`,
    `  ${field.description}`,
    `  source     ${sourceText(resolved)}`,
    `  default    ${fallback}`,
    `  expects    ${field.expects}`,
    ...lookedAt.map(
      (look, index) =>
        `  ${index === 0 ? 'looked at' : '         '}  ${lookText(look, field.secret === true)}`,
    ),
    ...absentFiles(resolved, files).map(
      (text, index) => `  ${lookedAt.length + index === 0 ? 'looked at' : '         '}  ${text}`,
    ),
  ];
}

function lookText(look: LookedAt, secret: boolean): string {
  const found = look.found ? (secret ? MASK : JSON.stringify(look.value)) : 'not set';
  return `${look.where}: ${found}${look.note === undefined ? '' : ` (${look.note})`}`;
}

/** Files that could hold the field but do not exist. */
function absentFiles({ field, lookedAt }: ResolvedValue, files: ConfigFiles): string[] {
  const seen = (file: string) =>
    lookedAt.some((look) => look.where === file || look.where.startsWith(`${file}:`));
  const candidates = field.layers.flatMap((layer) => {
    if (layer === 'project')
      return files.project.folder === undefined ? files.project.lookedAt : [files.project.file];
    return layer === 'secrets' ? [files.secrets.ownFile ?? files.global, files.secrets.file] : [files.global];
  });
  return [...new Set(candidates)].filter((file) => !seen(file)).map((file) => `${file}: no such file`);
}

// Values that the daemon uses instead of those in the files: a last good value, or one from its environment.

export type InEffect = ReadonlyMap<string, ConfigEntry>;

/** By key; empty when the daemon does not run or does not serve the project. */
export async function otherInDaemon(
  machine: Machine,
  { files, values }: Pick<LoadedConfig, 'files' | 'values'>,
): Promise<InEffect> {
  const { folder } = files.project;
  const daemon = folder === undefined ? undefined : await connectDaemon(machine);
  if (folder === undefined || daemon === undefined) return new Map();
  const project = projectEntry(folder, values).id;
  const report = await daemon.get('/api/config', { query: { project } }).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'unknown-project') return { values: [] };
    throw error;
  });
  const here = new Map(values.map((value) => [value.key, shown(value)]));
  const other = report.values.filter(
    ({ key, value, differs }) => differs !== null || !sameJson(here.get(key) ?? null, value ?? null),
  );
  return new Map(other.map((entry) => [entry.key, entry]));
}

function shown(value: ResolvedValue): unknown {
  return publicValue(value, addressFingerprint);
}

/** `3 (last good value; …): why the file's value is not used` */
export function effectText({ value, source, differs }: ConfigEntry): string {
  return `${JSON.stringify(value ?? null)} (${source.text})${differs === null ? '' : `: ${differs}`}`;
}

// What `svc config set` writes: the field, the file, the value. All of it is checked before a file is touched.

export const LIST_KEYS = 'List all keys: svc config show --all';

export function fieldForWriting(key: string): { path: KeyPath; field: FieldNode } {
  const answer = findKey(key);
  if (!answer.ok) throw new Failure('usage', answer.message, LIST_KEYS);
  if (isField(answer.found)) return { path: answer.found.path, field: answer.found.node };
  throw new Failure('usage', `${key} is a group of keys.`, `List its keys: svc config explain ${key}`);
}

export function layerForWriting(key: string, field: FieldNode, asked: Layer | undefined): Layer {
  const layer = asked ?? field.layers[0];
  const fits = field.layers.includes(layer) || (layer === 'global' && field.layers.includes('secrets'));
  if (fits) return layer;
  const homes = field.layers.map((home) => layerTitles[home]).join(' or the ');
  throw new Failure(
    'usage',
    `${key} is not read from the ${layerTitles[layer]}; it belongs in the ${homes}.`,
  );
}

/** A secret is never read from the arguments: other users of the machine can see those. */
export async function valueForWriting(
  terminal: Terminal,
  key: string,
  field: FieldNode,
  text: string,
): Promise<unknown> {
  if (field.secret && text !== '-') {
    throw new Failure(
      'usage',
      `${key} is a secret, and other users can see arguments.`,
      `Pass it on standard input: svc config set ${key} - < file`,
    );
  }
  const given = text === '-' ? (await terminal.readInput()).replace(/\r?\n$/, '') : text;
  const read = valueFromText(field, given);
  if (!read.ok) {
    const message = `${key}: expected ${read.expected}, found ${JSON.stringify(given.slice(0, 60))}.`;
    throw new Failure('usage', field.secret ? `${key}: expected ${read.expected}.` : message);
  }
  const look =
    field.layers[0] === 'project' ? secretKind(key.split('.').at(-1) ?? '', read.value) : undefined;
  if (look === undefined) return read.value;
  throw new Failure(
    'usage',
    `${key}: the value looks like ${look}, and the project file is committed.`,
    'Store the secret in an environment variable and set its name.',
  );
}
