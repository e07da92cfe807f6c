// Tests whose body does nothing: written so, or made so by the diff.
import type { Language } from './file-kind.ts';
import type { ScanFinding } from './finding.ts';
import type { ReadFile, ReadLine } from './read-lines.ts';
import { beginsTest } from './test-shapes.ts';

/** Attributes and signature between `@Test` and the bracket that opens the body. */
const LONGEST_HEAD = 4;

type Emptied = Pick<ScanFinding, 'line' | 'text' | 'why'>;

export function emptiedTests({ hunks, language }: ReadFile): Emptied[] {
  const isEmpty = language === 'python' ? emptyInPython : emptyInBrackets;
  const found: Emptied[] = [];
  for (const hunk of hunks) {
    for (const [index, line] of hunk.entries()) {
      if (line.sign === '-' || !beginsTest(line.code, language)) continue;
      const end = isEmpty(hunk, index, language);
      if (end === undefined) continue;
      const body = hunk.slice(index, end + 1);
      if (body.every(({ sign, moved }) => sign === ' ' || moved)) continue;
      const why = body.some(({ sign, moved }) => sign === '-' && !moved)
        ? 'the body of a test was taken out'
        : 'a test without a body';
      found.push({ line: line.line, text: line.text, why });
    }
  }
  return found;
}

const opens = /(?:\{|\bdo)\s*(?:\|[\w, ]{0,40}\|)?\s*$/;
const opensAndCloses = /\{\s*\}\s*\)?\s*;?\s*$/;
const closes = /^\s*(?:\}|end\b)/;
const doesNothing =
  /^\s*(?:(?:return|await|return await)?\s?(?:Promise\.resolve\(\)|null|undefined|nil)?|done\(\)|t\.pass\(\)|pass|_ = t)\s*;?\s*$/;

/** The index of the line that ends an empty body; undefined when there is something in it. */
function emptyInBrackets(hunk: readonly ReadLine[], start: number, language: Language): number | undefined {
  let open = -1;
  for (let index = start, seen = 0; index < hunk.length && seen < LONGEST_HEAD; index += 1) {
    const line = hunk[index];
    if (line === undefined || line.sign === '-' || line.code.trim() === '') continue;
    if (index > start && beginsTest(line.code, language)) return undefined;
    if (opensAndCloses.test(line.code)) return index;
    if (opens.test(line.code)) {
      open = index;
      break;
    }
    seen += 1;
    // Only an attribute may stand alone before the test itself.
    if (index === start && !/^\s*[@#[]/.test(line.code)) return undefined;
  }
  if (open < 0) return undefined;
  for (let index = open + 1; index < hunk.length; index += 1) {
    const line = hunk[index];
    if (line === undefined || line.sign === '-') continue;
    if (closes.test(line.code)) return index;
    if (!doesNothing.test(line.code)) return undefined;
  }
  return undefined;
}

const isQuotesOnly = /^\s*["']*\s*$/;

function emptyInPython(hunk: readonly ReadLine[], start: number): number | undefined {
  const head = hunk[start];
  if (head === undefined || !head.code.trimEnd().endsWith(':')) {
    return head !== undefined && /:\s?(?:pass|\.\.\.)\s*$/.test(head.code) ? start : undefined;
  }
  const depth = indentOf(head.text);
  let last = start;
  let hasBody = false;
  for (let index = start + 1; index < hunk.length; index += 1) {
    const line = hunk[index];
    if (line === undefined || line.text.trim() === '') continue;
    if (line.sign === '-') {
      if (indentOf(line.text) > depth) last = index;
      continue;
    }
    if (indentOf(line.text) <= depth) return last > start ? last : undefined;
    last = index;
    hasBody = true;
    if (!isQuotesOnly.test(line.code) && !/^\s*(?:pass|\.\.\.|return(?: None)?)\s*$/.test(line.code))
      return undefined;
  }
  // The hunk ends with the file, or with lines that were not shown.
  return hasBody ? last : undefined;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}
