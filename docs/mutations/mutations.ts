// A mutation breaks one behaviour of the product on purpose. The test that the conformance table names for it has to fail.
// The files in rows/ contain them by subject; README.md describes the format.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConformanceRow } from './conformance-rows.ts';

export type Mutation = {
  /** The row of docs/conformance.md, or SPEED-… for a test that must not depend on speed (rows/waits.txt). */
  row: string;
  file: string;
  /** One of the tests that the row names; by default the first. */
  test?: string;
  /**
   * The names of the tests, where the row names them by a line of their table. `%s` and the like stand for
   * anything, as they do in the row itself.
   */
  named?: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
};

/** Every mutation, by file name. The most important rows are first in each file. */
export function readMutations(): Mutation[] {
  const folder = join(import.meta.dirname, 'rows');
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => parseMutations(readFileSync(join(folder, name), 'utf8')));
}

/** The paragraphs of a row file. Throws on the first unreadable line. */
export function parseMutations(text: string): Mutation[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
    .filter((lines) => lines.length > 0)
    .map(parseMutation);
}

function parseMutation([head = '', ...lines]: string[]): Mutation {
  const [, row, file] = /^([A-Z]+-\d+) '([^']+)'$/.exec(head) ?? [];
  if (row === undefined || file === undefined)
    throw new Error(`expected a row and its file: EVT-8 'packages/…'; found: ${head}`);
  const wrong = lines.find((line) => !/^(?:test |named |[-+](?: |$))/.test(line));
  if (wrong !== undefined) throw new Error(`${row}: expected test, named, - or +; found: ${wrong}`);
  const marked = (mark: string): string[] =>
    lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length).replace(/^ /, ''));
  const find = marked('-').join('\n');
  if (find === '') throw new Error(`${row}: no line with the text to replace`);
  const [[test], [named]] = [marked('test '), marked('named ')];
  return { row, file, ...(test && { test }), ...(named && { named }), find, replace: marked('+').join('\n') };
}

/** All mutations, `{ rows: 'auth-1, EVT-8' }`, or `{ count: '5' }` spread over all subjects. */
export function chooseMutations(
  all: readonly Mutation[],
  wish: { rows?: string | undefined; count?: string | undefined },
): readonly Mutation[] {
  const wanted = wish.rows?.split(',').map((row) => row.trim().toUpperCase());
  const unknown = wanted?.filter((row) => all.every((mutation) => mutation.row !== row)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--rows: no mutation of ${unknown.join(', ')}; see docs/mutations/rows`);
  const named = wanted === undefined ? all : all.filter(({ row }) => wanted.includes(row));
  if (wish.count === undefined) return named;
  const count = Number(wish.count);
  if (!Number.isInteger(count) || count < 1)
    throw new Error('--count: expected a whole number of at least 1');
  const step = Math.max(1, named.length / count);
  return named.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** The file and the names of the tests that have to fail. */
export function testsOf(
  { row, test, named }: Mutation,
  rows: ReadonlyMap<string, ConformanceRow>,
): { file: string; names: RegExp } {
  const first = rows.get(row)?.heldBy[0];
  const [file = '', fragment = ''] = test?.split(' › ') ?? [first?.file, first?.fragment];
  return { file, names: namePattern(named ?? fragment) };
}

/** `%s` in a name matches anything. */
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
