// What an update changed, from the tracker's `updatedFrom`: the fields, and their previous values.
import { cutText } from '../log/cut-text.ts';
import type { PreviousValue } from '../log/tracker-details.ts';
import type { Fields } from './payload-fields.ts';

/** Also keeps out `__proto__`, which as a key of ours would be no field. */
const fieldName = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const MOST_FIELDS = 64;
const MOST_ITEMS = 100;
const LONGEST_TEXT = 256;
/** Changes with every update and so tells nothing. */
const alwaysChanged = 'updatedAt';

export type Changes = { changed?: string[]; previous?: Record<string, PreviousValue> };

/** A previous value that is an object is not kept; its field is still named in `changed`. */
export function changesFrom(updatedFrom: Fields): Changes {
  const changed: string[] = [];
  const previous: Record<string, PreviousValue> = {};
  for (const name in updatedFrom) {
    if (changed.length === MOST_FIELDS) break;
    if (name === alwaysChanged || !fieldName.test(name)) continue;
    changed.push(name);
    const value = plainValue(updatedFrom[name]);
    if (value !== undefined) previous[name] = value;
  }
  return changed.length === 0 ? {} : { changed, previous };
}

function plainValue(value: unknown): PreviousValue | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'string') return cutText(value, LONGEST_TEXT);
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MOST_ITEMS).filter((item) => typeof item === 'string' && item.length <= LONGEST_TEXT);
}
