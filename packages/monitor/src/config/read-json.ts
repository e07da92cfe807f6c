// Reads a JSON file strictly and keeps the line of every key, for messages.
import { type FileHandle, open } from 'node:fs/promises';
import type { ConfigProblem, KeyPath } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;

export type JsonFile =
  | { state: 'absent' }
  | { state: 'broken'; problem: ConfigProblem }
  | { state: 'read'; text: string; data: unknown; lineOf: (path: KeyPath) => number | undefined };

export async function readJsonFile(path: string): Promise<JsonFile> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'absent' };
    return broken(path, 'unreadable', `cannot be read (${code ?? String(error)}).`);
  }
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES)
      return broken(path, 'unreadable', `has ${size} bytes; at most ${MAX_BYTES} are read.`);
    return parseJson(path, await handle.readFile('utf8'));
  } catch (error) {
    return broken(path, 'unreadable', `cannot be read (${systemErrorCode(error) ?? String(error)}).`);
  } finally {
    await handle.close();
  }
}

/** The same for text that is already in memory. */
export function parseJson(path: string, text: string): JsonFile {
  if (depthOf(text) > MAX_DEPTH)
    return broken(path, 'not-json', `is nested more than ${MAX_DEPTH} levels deep.`);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [error] = errors;
  if (error) {
    const what = wordsOf(printParseErrorCode(error.error));
    return broken(path, 'not-json', `is not valid JSON: ${what}.`, lineAt(text, error.offset));
  }
  const twice = tree && duplicateKey(tree);
  if (twice) {
    const name = String(twice.value);
    return broken(path, 'not-json', `has the key ${JSON.stringify(name)} twice.`, lineAt(text, twice.offset));
  }
  try {
    const data: unknown = JSON.parse(text);
    return { state: 'read', text, data, lineOf: keyLines(text, tree) };
  } catch (failure) {
    return broken(path, 'not-json', `is not valid JSON: ${(failure as SyntaxError).message}.`);
  }
}

function broken(file: string, code: 'not-json' | 'unreadable', message: string, line?: number): JsonFile {
  return { state: 'broken', problem: { severity: 'error', code, file, line, key: '', message } };
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
