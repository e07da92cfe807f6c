// What a person asks to write: the field, the file, the value. Everything wrong is said before a file is touched.
import {
  type FieldNode,
  findKey,
  isField,
  type KeyPath,
  type Layer,
  layerTitles,
  secretLook,
  valueFromText,
} from '@svc/core';
import { Failure } from '../errors.ts';
import type { Terminal } from './terminal.ts';

export function fieldForWriting(key: string): { path: KeyPath; field: FieldNode } {
  const answer = findKey(key);
  if (!answer.ok) throw new Failure('usage', answer.message);
  if (isField(answer.found)) return { path: answer.found.path, field: answer.found.node };
  throw new Failure(
    'usage',
    `${key} is a group of keys.`,
    `Name one of its keys; see: svc config explain ${key}`,
  );
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

/** Reads the value. A secret never comes from the arguments: other users of the machine can see those. */
export async function valueForWriting(
  terminal: Terminal,
  key: string,
  field: FieldNode,
  text: string,
): Promise<unknown> {
  if (field.secret && text !== '-') {
    throw new Failure(
      'usage',
      `${key} is a secret, and arguments can be seen by others.`,
      `Give it on standard input: svc config set ${key} - < file`,
    );
  }
  const given = text === '-' ? (await terminal.readInput()).replace(/\r?\n$/, '') : text;
  const read = valueFromText(field, given);
  if (!read.ok) throw new Failure('usage', `${key}: expected ${read.expected}.`);
  const look =
    field.layers[0] === 'project' ? secretLook(key.split('.').at(-1) ?? '', read.value) : undefined;
  if (look === undefined) return read.value;
  throw new Failure(
    'usage',
    `${key}: the value looks like ${look}, and the project file is committed.`,
    'Store the secret in an environment variable and set its name.',
  );
}
