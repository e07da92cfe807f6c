// Reads a JSON file strictly and keeps the line of every key, for messages.
import { systemErrorCode } from '@svc/lib/errors';
import { isMissing } from '@svc/lib/files';
import { isThere, readText, reasonOf } from '@svc/lib/paths';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { ConfigProblem } from './problems.ts';
import type { KeyPath } from './tree.ts';

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;

export type JsonFile =
  | { state: 'absent' }
  | { state: 'broken'; problem: ConfigProblem }
  | { state: 'read'; text: string; data: unknown; lineOf: (path: KeyPath) => number | undefined };

export async function readJsonFile(path: string): Promise<JsonFile> {
  let text: string;
  try {
    text = await readText(path, { most: MAX_BYTES });
  } catch (error) {
    if (isMissing(error) && !(await isThere(path))) return { state: 'absent' };
    return { state: 'broken', problem: unreadable(path, error) };
  }
  return parseJson(path, text);
}

/** The problem of a file that is there and cannot be read, with the fix. */
export function unreadable(file: string, error: unknown): ConfigProblem {
  const remedy = remedies[systemErrorCode(error) ?? ''] ?? 'Replace it with a file that you can read.';
  return { severity: 'error', code: 'unreadable', file, key: '', message: reasonOf(error), remedy };
}

const permission = 'Make it readable for you; check the permissions of its folders too (chmod u+rx).';
const remedies: Readonly<Record<string, string>> = {
  EACCES: permission,
  EPERM: permission,
  ETIMEDOUT: 'Check the disk or the network that it is on; it is read again by itself.',
  EIO: 'Check the disk that it is on.',
  ESTALE: 'Mount its disk again.',
};

/** The same for text that is already in memory. */
export function parseJson(path: string, text: string): JsonFile {
  if (depthOf(text) > MAX_DEPTH) return broken(path, `is nested more than ${MAX_DEPTH} levels deep.`);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [error] = errors;
  if (error) {
    const what = wordsOf(printParseErrorCode(error.error));
    return broken(path, `is not valid JSON: ${what}.`, lineAt(text, error.offset));
  }
  const twice = tree && duplicateKey(tree);
  if (twice) {
    const name = String(twice.value);
    return broken(path, `has the key ${JSON.stringify(name)} twice.`, lineAt(text, twice.offset));
  }
  try {
    const data: unknown = JSON.parse(text);
    return { state: 'read', text, data, lineOf: keyLines(text, tree) };
  } catch (failure) {
    return broken(path, `is not valid JSON: ${(failure as SyntaxError).message}.`);
  }
}

function broken(file: string, message: string, line?: number): JsonFile {
  return { state: 'broken', problem: { severity: 'error', code: 'not-json', file, line, key: '', message } };
}

/** The deepest nesting of brackets outside strings; bounds the recursion of everything that follows. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, (depth += 1));
    if (token === '}' || token === ']') depth -= 1;
  }
  return deepest;
}

function duplicateKey(node: Node): Node | undefined {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const [name] = node.type === 'object' ? (child.children ?? []) : [];
    if (name && seen.has(name.value)) return name;
    if (name) seen.add(name.value);
    const below = duplicateKey(child);
    if (below) return below;
  }
  return undefined;
}

/** The line of every key, found in one walk when the first is requested. */
function keyLines(text: string, tree: Node | undefined): (path: KeyPath) => number | undefined {
  let lines: Map<string, number> | undefined;
  return (path) => {
    lines ??= tree ? collectKeyLines(text, tree) : new Map();
    return lines.get(JSON.stringify(path));
  };
}

function collectKeyLines(text: string, tree: Node): Map<string, number> {
  const lines = new Map<string, number>();
  let line = 1;
  let counted = 0;
  const visit = (node: Node, path: KeyPath): void => {
    for (const property of node.type === 'object' ? (node.children ?? []) : []) {
      const [name, value] = property.children ?? [];
      if (!name || !value) continue;
      for (; counted < property.offset; counted += 1) if (text[counted] === '\n') line += 1;
      const key = [...path, String(name.value)];
      lines.set(JSON.stringify(key), line);
      visit(value, key);
    }
  };
  visit(tree, []);
  return lines;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function wordsOf(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
