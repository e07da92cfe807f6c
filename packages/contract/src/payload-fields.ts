// Reads fields of an unchecked payload: a missing field or a field of another type is absent.
// Hand-written because it runs for every delivery; a schema would cost more than the rest of the mapping.
import { cutText } from '@svc/lib/cut-text';
import { z } from 'zod';

export type Fields = { readonly [name: string]: unknown };

const nothing: Fields = Object.freeze({});
/** The same rule as in the log, so a time read here is never refused there. */
const dateTime = z.regexes.datetime({ offset: true });
const LONGEST_TIME = 40;
const LONGEST_LIST = 100;
const LONGEST_NAME = 256;

/** The value as an object; undefined for anything else, arrays included. */
export function asFields(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

export function hasObject(fields: Fields, name: string): boolean {
  return isFields(fields[name]);
}

/** The object under a name, or an empty one, so a path can be followed without checks. */
export function objectAt(fields: Fields, name: string): Fields {
  return asFields(fields[name]) ?? nothing;
}

/** An empty text counts as absent. */
export function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function integerAt(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

export function numberAt(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function flagAt(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  return typeof value === 'boolean' ? value : undefined;
}

export function timeAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value.length <= LONGEST_TIME && dateTime.test(value)
    ? value
    : undefined;
}

export function listAt(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** One text of each object in a list: `namesAt(pullRequest, 'labels', 'name')`. */
export function namesAt(fields: Fields, list: string, name: string): string[] | undefined {
  const value = fields[list];
  if (!Array.isArray(value)) return undefined;
  const names: string[] = [];
  for (const item of value.slice(0, LONGEST_LIST)) {
    const text = textAt(asFields(item) ?? nothing, name);
    if (text !== undefined && text.length <= LONGEST_NAME) names.push(text);
  }
  return names;
}

/** The login of a code host user. */
export function loginAt(fields: Fields, name: string): string | undefined {
  return textAt(objectAt(fields, name), 'login');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON object on a line; undefined when the line is not one. */
export function jsonIn(line: string): Fields | undefined {
  return asFields(parsedJson(line));
}

/** Undefined when the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

// Removes undefined fields and cuts texts that are too long.

const LONGEST_TEXT = 4096;

type Values = { [name: string]: unknown };

/** The same without its undefined fields. */
export function onlyKnown<Known extends object>(values: Known): Known;
export function onlyKnown(values: Values): Values {
  const known: Values = {};
  for (const name in values) {
    if (values[name] !== undefined) known[name] = values[name];
  }
  return known;
}

/** The same for a detail; texts over 4 KB are cut, marked, and listed in `cut`. */
export function knownDetail<Known extends object>(values: Known): Known;
export function knownDetail(values: Values): Values {
  const known: Values = {};
  const cut: string[] = [];
  for (const name in values) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value === 'string' && value.length > LONGEST_TEXT) {
      known[name] = cutText(value, LONGEST_TEXT);
      cut.push(`detail.${name}`);
    } else known[name] = value;
  }
  if (cut.length > 0) known['cut'] = cut;
  return known;
}
