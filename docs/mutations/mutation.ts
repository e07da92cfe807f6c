// A mutation: one behaviour of the product, broken on purpose. The test that the conformance table names for it
// has to fail then.
import type { ConformanceRow } from './conformance-rows.ts';

export type Mutation = {
  /** The row of docs/conformance.md, or SPEED-… for a test that must not depend on speed (rows/waits.ts). */
  row: string;
  /** One of the tests that the row names, as it stands there; the first, if it is left out. */
  test?: string;
  /**
   * The names of the tests, where the row names them by a line of their table. `%s` and the like stand for
   * anything, as they do in the row itself.
   */
  named?: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
};

/** The file and the names of the tests that have to fail. */
export function testsOf(
  { row, test, named }: Mutation,
  rows: ReadonlyMap<string, ConformanceRow>,
): { file: string; names: RegExp } {
  const first = rows.get(row)?.heldBy[0];
  const [file = '', fragment = ''] = test?.split(' › ') ?? [first?.file, first?.fragment];
  return { file, names: namePattern(named ?? fragment) };
}

/** `%s: nobody is called` is any name that has something before those words. */
function namePattern(name: string): RegExp {
  const parts = name.split(/%[sdifjoO]|\$[a-z]+/i);
  return new RegExp(parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'));
}

type Mutated = { ok: true; text: string } | { ok: false; why: string };

export function applyMutation(text: string, { file, find, replace }: Mutation): Mutated {
  const parts = text.split(find);
  return parts.length === 2
    ? { ok: true, text: parts.join(replace) }
    : { ok: false, why: `the text to replace occurs ${parts.length - 1} times in ${file}` };
}
