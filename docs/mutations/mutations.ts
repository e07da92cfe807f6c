// A mutation: one behaviour of the product, broken on purpose. Its test in the conformance table has to fail then. The
// files in rows/ contain them by subject of the specification; README.md describes their format.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConformanceRow } from './conformance-rows.ts';

export type Mutation = {
  /**
   * The row of docs/conformance.md; SPEED-… for a test that must not depend on speed (rows/waits.txt), ATTENTION-… for
   * what needs a person (rows/attention.txt), TRUTH-… for what proves that a ticket is done (rows/truth.txt), TEAM-…
   * for the team (rows/team.txt), LINEAR-… and GITHUB-… for a row of the tracker contract (rows/contract.txt).
   */
  row: string;
  file: string;
  /** One of the tests of the row, as written there; by default the first. */
  test?: string;
  /**
   * The names of the tests, if the row names them by a line of their table. `%s` and the like match anything, as in the
   * row itself.
   */
  named?: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
};

/** Every mutation, ordered by file name. The most important rows come first in each file. */
export function readMutations(): Mutation[] {
  const folder = join(import.meta.dirname, 'rows');
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => parseMutations(readFileSync(join(folder, name), 'utf8')));
}

/** Paragraphs of a file of rows. Throws on the first invalid line. */
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
  if (find === '') throw new Error(`${row}: no text to replace`);
  const [[test], [named]] = [marked('test '), marked('named ')];
  return { row, file, ...(test && { test }), ...(named && { named }), find, replace: marked('+').join('\n') };
}

/** All, `{ rows: 'auth-1, EVT' }`, where EVT stands for all its rows, or `{ count: '5' }`, spread over all subjects. */
export function chooseMutations(
  all: readonly Mutation[],
  wish: { rows?: string | undefined; count?: string | undefined },
): readonly Mutation[] {
  const wanted = wish.rows?.split(',').map((row) => row.trim().toUpperCase());
  const isOf = ({ row }: Mutation, name: string) => row === name || row.startsWith(`${name}-`);
  const unknown = wanted?.filter((name) => !all.some((mutation) => isOf(mutation, name))) ?? [];
  if (unknown.length > 0)
    throw new Error(`--rows: no mutation for ${unknown.join(', ')}; see docs/mutations/rows`);
  const named =
    wanted === undefined ? all : all.filter((mutation) => wanted.some((name) => isOf(mutation, name)));
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

/** `%s: nothing is called` matches any name with something before these words. */
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
