// The rows of docs/conformance.md: each sentence of the specification and its tests.

/** `path/to/file.test.ts › fragment of the file`; the fragment is part of a test's name, or of its table. */
export type TestReference = { file: string; fragment: string };

/**
 * `heldBy` is empty for a row without a test. `isMeaning`: the row only states the purpose of something, so there is no
 * code to break.
 */
export type ConformanceRow = { id: string; sentence: string; heldBy: TestReference[]; isMeaning: boolean };

/** All rows in order. */
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
