// Changes one value in a JSON text and leaves every other byte alone: order, spacing, unknown keys.
import { findNodeAtLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser';
import { Failure } from '../failure.ts';

/** The value at a path, or undefined. */
export function valueAt(text: string, path: readonly string[]): unknown {
  const root = parseTree(text);
  const node = root && findNodeAtLocation(root, [...path]);
  return node && (getNodeValue(node) as unknown);
}

/** Sets the value at a path; missing objects on the way are created. */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const source = text.trim() === '' ? '{}\n' : text;
  const root = parseTree(source);
  if (root?.type !== 'object') throw new Failure('config-invalid', 'The file is not a JSON object.');
  const existing = findNodeAtLocation(root, [...path]);
  const style = styleOf(source);
  if (existing) return replace(source, existing, format(value, path.length, style));
  let depth = path.length - 1;
  let parent = findNodeAtLocation(root, path.slice(0, depth));
  while (!parent) parent = findNodeAtLocation(root, path.slice(0, (depth -= 1)));
  if (parent.type !== 'object') {
    const key = path.slice(0, depth).join('.');
    throw new Failure('config-invalid', `${key} is not an object, so nothing can be set below it.`);
  }
  const whole = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return insert(source, parent, path[depth] ?? '', whole, depth, style);
}

/** Adds a value at the end of the list at a path, which must exist. */
export function appendInJson(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text);
  const list = root && findNodeAtLocation(root, [...path]);
  if (list?.type !== 'array') throw new Failure('config-invalid', `${path.join('.')} is not a list.`);
  return insert(text, list, '', value, path.length, styleOf(text));
}

/** Removes the value at a path; a number is a position in a list. An absent path changes nothing. */
export function unsetInJson(text: string, path: readonly (string | number)[]): string {
  const root = parseTree(text);
  const value = root && findNodeAtLocation(root, [...path]);
  const entry = value?.parent?.type === 'property' ? value.parent : value;
  const parent = entry?.parent;
  const siblings = parent?.children;
  if (!entry || !siblings) return text;
  const index = siblings.indexOf(entry);
  const before = siblings[index - 1];
  const after = siblings[index + 1];
  if (before) return text.slice(0, endOf(before)) + text.slice(endOf(entry));
  if (after) return text.slice(0, entry.offset) + text.slice(after.offset);
  return replace(text, parent, parent.type === 'array' ? '[]' : '{}');
}

type Style = { indent: string; newline: string };

function styleOf(text: string): Style {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  return { newline, indent: /^\{\s*?\n([ \t]+)/.exec(text)?.[1] ?? '  ' };
}

function format(value: unknown, depth: number, style: Style): string {
  const lines = JSON.stringify(value, null, style.indent).split('\n');
  return lines.join(style.newline + style.indent.repeat(depth));
}

/** Into an object or a list, which needs no name. */
function insert(
  text: string,
  parent: Node,
  name: string,
  value: unknown,
  depth: number,
  style: Style,
): string {
  const last = parent.children?.at(-1);
  const [open, close] = parent.type === 'array' ? ['[', ']'] : ['{', '}'];
  const key = parent.type === 'array' ? '' : `${JSON.stringify(name)}: `;
  const line = style.newline + style.indent.repeat(depth + 1);
  const property = `${key}${format(value, depth + 1, style)}`;
  if (!last)
    return replace(
      text,
      parent,
      `${open}${line}${property}${style.newline}${style.indent.repeat(depth)}${close}`,
    );
  const oneLine = !text.slice(parent.offset, endOf(parent)).includes('\n');
  const next = oneLine ? `, ${key}${JSON.stringify(value)}` : `,${line}${property}`;
  return splice(text, endOf(last), endOf(last), next);
}

function replace(text: string, node: Node, by: string): string {
  return splice(text, node.offset, endOf(node), by);
}

function splice(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

function endOf(node: Node): number {
  return node.offset + node.length;
}
