// Keys as a person writes them: `svc.tracker.teamKey`, `svc.deploy.acme/web.app.timeoutSec`. A repository name may
// contain dots, so a key is matched against the schema instead of being split at each dot.
import { canonicalKey } from '@svc/contract/vendor-names';
import { nearest } from '@svc/lib/nearest';
import {
  type ConfigNode,
  childOf,
  type FieldNode,
  type GroupNode,
  type KeyedNode,
  type KeyPath,
} from './tree.ts';

export type FoundKey = { path: KeyPath; node: ConfigNode };
export type KeyAnswer = { ok: true; found: FoundKey } | { ok: false; message: string };

export function formatKey(path: KeyPath): string {
  return path.join('.');
}

/** Finds the field or group for a written key. */
export function findKey(tree: GroupNode, text: string): KeyAnswer {
  const segments = canonicalKey(text).split('.');
  const found = segments.includes('') ? undefined : descend(tree, [], segments);
  if (found) return { ok: true, found };
  const suggestion = nearest(text, knownKeys(tree));
  const hint = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`;
  return { ok: false, message: `Unknown configuration key ${text}.${hint}` };
}

function descend(node: ConfigNode, path: KeyPath, rest: readonly string[]): FoundKey | undefined {
  if (rest.length === 0) return { path, node };
  if (node.kind === 'field') return undefined;
  if (node.kind === 'keyed') return descendKeyed(node, path, rest);
  const [name = '', ...below] = rest;
  const child = childOf(node, name);
  return child && descend(child, [...path, name], below);
}

/** The name may itself contain dots: the longest one that leaves a valid rest wins. */
function descendKeyed(node: KeyedNode, path: KeyPath, rest: readonly string[]): FoundKey | undefined {
  for (let length = rest.length; length > 0; length -= 1) {
    const name = rest.slice(0, length).join('.');
    const below = rest.slice(length);
    const isFieldName = below.length === 0 && endsInChild(node.child, rest);
    if (isFieldName || !node.name.safeParse(name).success) continue;
    const found = descend(node.child, [...path, name], below);
    if (found) return found;
  }
  return undefined;
}

function endsInChild(node: GroupNode, rest: readonly string[]): boolean {
  return rest.length > 1 && node.children.has(rest.at(-1) ?? '');
}

function knownKeys(tree: GroupNode): string[] {
  const keys: string[] = [];
  const visit = (node: ConfigNode, path: KeyPath): void => {
    if (path.length > 0) keys.push(formatKey(path));
    if (node.kind === 'group') for (const [name, child] of node.children) visit(child, [...path, name]);
    if (node.kind === 'keyed') visit(node.child, [...path, '<name>']);
  };
  visit(tree, []);
  return keys;
}

/** Whether a node is a single value. */
export function isField(found: FoundKey): found is FoundKey & { node: FieldNode } {
  return found.node.kind === 'field';
}
