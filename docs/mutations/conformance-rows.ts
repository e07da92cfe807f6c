// The rows of docs/conformance.md: each sentence of the specification and its tests.

/** `path/to/file.test.ts › fragment of the file`; the fragment is part of a test's name, or of its table. */
export type TestReference = { file: string; fragment: string };

/**
 * `heldBy` is empty for a row without a test. `isMeaning`: the row only explains what something is for, so no code can
 * be broken to test it.
 */
export type ConformanceRow = { id: string; sentence: string; heldBy: TestReference[]; isMeaning: boolean };

/** In their order; `conformanceById` for a single one. */
export function readConformanceRows(markdown: string): ConformanceRow[] {
  return markdown
    .split('\n')
    .filter((line) => /^\| *[A-Z]+-\d+ *\|/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map(([, id = '', sentence = '', heldBy = '']): ConformanceRow => {
      const isMeaning = heldBy.startsWith('meaning; ');
      const tests = heldBy.replace('meaning; ', '').replaceAll('`', '');
      const references = tests === 'not yet' ? [] : tests.split('; ');
      return { id, sentence: sentence.replaceAll('`', ''), heldBy: references.map(readReference), isMeaning };
    });
}

export function conformanceById(markdown: string): Map<string, ConformanceRow> {
  return new Map(readConformanceRows(markdown).map((row) => [row.id, row]));
}

export function readReference(text: string): TestReference {
  const [file = '', fragment = ''] = text.split(' › ');
  return { file, fragment };
}

/**
 * Whether the text of a test file has a test whose name contains the fragment: as it stands there, or as a name with
 * placeholders (`%s`, `$name`) and what the file has for them.
 */
export function hasTest(text: string, fragment: string): boolean {
  if (fragment === '') return false;
  if (text.includes(fragment)) return true;
  const unquoted = text.replaceAll("\\'", "'");
  if (unquoted.includes(fragment)) return true;
  const names = [...unquoted.matchAll(/\)\(\s*(?:'([^\n]*?)'|`([^\n]*?)`),/g)];
  return names.some(([, plain, quoted]) =>
    isMadeOf((plain ?? quoted ?? '').split(placeholder), fragment, unquoted),
  );
}

const placeholder = /%[a-zA-Z]|\$\{[^}]*\}|\$[\w.]+/;

/** The fragment may begin in the first part of the name, and end in the last. */
function isMadeOf(parts: readonly string[], fragment: string, text: string): boolean {
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return false;
  const pieces = (part: string, at: number): string[] =>
    Array.from({ length: part.length + 1 }, (_, cut) => (at === 0 ? part.slice(cut) : part.slice(0, cut)));
  const start = pieces(first, 0).find((piece) => fragment.startsWith(piece)) ?? '';
  const end = pieces(last, 1).findLast((piece) => fragment.endsWith(piece)) ?? '';
  const between = fragment.slice(start.length, fragment.length - end.length);
  const values = new RegExp(`^${['', ...others, ''].map(escaped).join('(.*)')}$`, 's').exec(between);
  return values?.slice(1).every((value) => text.includes(value)) ?? false;
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
