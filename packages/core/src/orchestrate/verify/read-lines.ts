// The lines of a diff as the rules see them: with code and comment apart, and with those marked that only moved.
import { type LineParts, partsOfLine } from './code-of-line.ts';
import { type Language, languageOf } from './file-kind.ts';
import type { DiffFile, DiffLine } from './unified-diff.ts';

export type ReadLine = DiffLine & LineParts & { moved: boolean };
export type ReadFile = Omit<DiffFile, 'hunks'> & { language: Language; hunks: ReadLine[][] };

/** A bracket is everywhere; it says nothing about where a line went. */
const SHORTEST_MOVED = 4;

export function readLines(files: readonly DiffFile[]): ReadFile[] {
  const moves = countMoves(files);
  return files.map((file) => {
    const language = languageOf(file.path);
    return {
      ...file,
      language,
      hunks: file.hunks.map((hunk) =>
        hunk.map((line) => ({ ...line, ...partsOfLine(line.text, language), moved: moves.take(line) })),
      ),
    };
  });
}

/** A line that was removed here and added there, in the same words, has moved: as often as it is on both sides. */
function countMoves(files: readonly DiffFile[]): { take: (line: DiffLine) => boolean } {
  const counts = { '+': new Map<string, number>(), '-': new Map<string, number>() };
  for (const { hunks } of files)
    for (const { sign, text } of hunks.flat()) {
      if (sign === ' ') continue;
      const key = text.trim();
      if (key.length >= SHORTEST_MOVED) counts[sign].set(key, (counts[sign].get(key) ?? 0) + 1);
    }
  const left = { '+': new Map<string, number>(), '-': new Map<string, number>() };
  for (const [key, added] of counts['+']) {
    const both = Math.min(added, counts['-'].get(key) ?? 0);
    if (both > 0) for (const sign of ['+', '-'] as const) left[sign].set(key, both);
  }
  return {
    take({ sign, text }) {
      if (sign === ' ') return false;
      const key = text.trim();
      const count = left[sign].get(key) ?? 0;
      if (count > 0) left[sign].set(key, count - 1);
      return count > 0;
    },
  };
}
