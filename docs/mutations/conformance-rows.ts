// The rows of docs/conformance.md: each sentence of the specification and the tests that hold it.

/** `path/to/file.test.ts › fragment of the file`; the fragment is part of a test's name, or of its table. */
export type TestReference = { file: string; fragment: string };

/** `heldBy` is empty for a row that no test holds yet. */
type ConformanceRow = { id: string; sentence: string; heldBy: TestReference[] };

/** As they stand; `conformanceById` for one of them. */
export function readConformanceRows(markdown: string): ConformanceRow[] {
  return markdown
    .split('\n')
    .filter((line) => /^\| *[A-Z]+-\d+ *\|/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map(([, id = '', sentence = '', heldBy = '']): ConformanceRow => {
      const references = heldBy === 'not yet' ? [] : heldBy.replaceAll('`', '').split('; ');
      return { id, sentence: sentence.replaceAll('`', ''), heldBy: references.map(readReference) };
    });
}

export function conformanceById(markdown: string): Map<string, ConformanceRow> {
  return new Map(readConformanceRows(markdown).map((row) => [row.id, row]));
}

function readReference(text: string): TestReference {
  const [file = '', fragment = ''] = text.split(' › ');
  return { file, fragment };
}
