// Makes a line fit its limit: the longest texts are cut first, marked, and listed in `detail.cut`.
// If that is not enough (a huge list, huge keys), the whole detail is dropped and `detail.cut` lists `detail`.
import { cutText, utf8Length } from '@svc/lib/cut-text';
import { type EventFields, MAX_EVENT_LINE_BYTES } from './event-line.ts';

/** A text this short is not cut; the whole detail is dropped instead. */
const SHORTEST_CUT = 256;
/** The last resort for texts outside the detail; 20 such texts and the fixed fields stay below 4 KiB. */
const LAST_CUT = 48;
/** Precision of the search for the longest text that fits: the line may end up this much below the limit. */
const SEARCH_STEP = 64;
/** A larger detail would need deep recursion, or would not fit anyway. */
const MAX_DEPTH = 32;
const MAX_VALUES = 20_000;
/** Fields with a fixed format: a cut value would no longer parse. */
const fixedFields = new Set(['event', 'source', 'via', 'ts', 'occurredAt']);
const LONGEST_TIME = 40;

/**
 * The line itself if it fits, else a copy that does. `maxBytes` counts the UTF-8 bytes of its JSON and must be at least
 * 4 KiB. The detail must be JSON (no cycles, dates or functions).
 */
export function cutToFit<Line extends EventFields>(
  line: Line,
  maxBytes: number = MAX_EVENT_LINE_BYTES,
): Line {
  if (bytesLeft(line, maxBytes, 0) >= 0) return line;
  if (isFoldable(line)) {
    if (fits(line, maxBytes)) return line;
    const cut = withLongestTexts(line, maxBytes);
    if (cut !== undefined) return cut;
  }
  return withoutDetail(line, maxBytes);
}

/** A lower bound of the bytes left, counting every character at its worst: `\u001f`, six bytes. */
function bytesLeft(value: unknown, bytes: number, depth: number): number {
  if (typeof value === 'string') return bytes - 6 * value.length - 3;
  if (!isObject(value)) return bytes - 26;
  if (depth > MAX_DEPTH) return -1;
  let left = bytes - 3;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) return left;
      left = bytesLeft(item, left, depth + 1);
    }
    return left;
  }
  for (const key in value) {
    if (left < 0) return left;
    left = bytesLeft(value[key], left - 6 * key.length - 3, depth + 1);
  }
  return left;
}

function isFoldable(value: unknown): boolean {
  let values = 0;
  const visit = (current: unknown, depth: number): boolean => {
    values += 1;
    if (values > MAX_VALUES || depth > MAX_DEPTH) return false;
    if (!isObject(current)) return true;
    return Object.values(current).every((child) => visit(child, depth + 1));
  };
  return visit(value, 0);
}

function fits(line: EventFields, maxBytes: number): boolean {
  const text = JSON.stringify(line);
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes);
}

/** Cuts all texts to one length, the largest that fits: shorter texts stay as they are. */
function withLongestTexts<Line extends EventFields>(line: Line, maxBytes: number): Line | undefined {
  let best = cutAllTo(line, SHORTEST_CUT);
  if (!fits(best, maxBytes)) return undefined;
  let [fitting, failing] = [SHORTEST_CUT, maxBytes];
  while (failing - fitting > SEARCH_STEP) {
    const middle = Math.floor((fitting + failing) / 2);
    const candidate = cutAllTo(line, middle);
    if (fits(candidate, maxBytes)) [best, fitting] = [candidate, middle];
    else failing = middle;
  }
  return best;
}

function withoutDetail<Line extends EventFields>(line: Line, maxBytes: number): Line {
  const bare: Line = { ...line, detail: {} };
  if (bare.occurredAt !== undefined && bare.occurredAt.length > LONGEST_TIME) delete bare.occurredAt;
  const cut = (limit: number): Line => {
    const shorter = cutAllTo(bare, limit);
    return { ...shorter, detail: { cut: ['detail', ...cutNames(shorter.detail)] } };
  };
  const usual = cut(SHORTEST_CUT);
  return fits(usual, maxBytes) ? usual : cut(LAST_CUT);
}

function cutAllTo<Line extends EventFields>(line: Line, limit: number): Line {
  const cut = new Set(cutNames(line.detail));
  const shorter = copyCut(line, '', limit, cut);
  return cut.size === 0 ? shorter : { ...shorter, detail: { ...shorter.detail, cut: [...cut] } };
}

/** A copy in which every text is within the limit; the paths of the cut texts are added to `cut`. */
function copyCut<Value>(value: Value, path: string, limit: number, cut: Set<string>): Value;
function copyCut(value: unknown, path: string, limit: number, cut: Set<string>): unknown {
  if (typeof value === 'string') {
    if (value.length <= limit || fixedFields.has(path)) return value;
    cut.add(path);
    return cutText(value, limit);
  }
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => copyCut(item, `${path}.${index}`, limit, cut));
  const prefix = path === '' ? '' : `${path}.`;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, child]) => [key, copyCut(child, prefix + key, limit, cut)]));
}

function cutNames(detail: EventFields['detail']): string[] {
  const names = detail['cut'];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
