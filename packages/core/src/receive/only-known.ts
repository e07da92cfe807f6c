// Leaves out what a payload did not say, and cuts what it said at too great a length.
import { cutText } from '../log/cut-text.ts';

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

/** The same for a detail; texts over 4 KB are cut, marked, and named in `cut`. */
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
