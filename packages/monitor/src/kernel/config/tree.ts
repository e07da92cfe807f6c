// Walks the configuration schema: groups of named children, groups keyed by a name that users choose
// (svc.deploy.<owner/repo>), and fields. Only this file knows how schemas are nested.
import { expectedIn, fieldAt, ownMessages } from '@svc/contract/expected';
import { nearest } from '@svc/lib/nearest';
import { z } from 'zod';
import { type FieldFacts, fieldFacts } from './field.ts';

export type FieldNode = FieldFacts & { kind: 'field'; schema: z.ZodType; value: z.ZodType; default: unknown };
export type GroupNode = { kind: 'group'; children: ReadonlyMap<string, ConfigNode> };
export type KeyedNode = { kind: 'keyed'; name: z.ZodType; child: GroupNode };
export type ConfigNode = FieldNode | GroupNode | KeyedNode;

export type KeyPath = readonly string[];

function nodeOf(schema: z.ZodType): ConfigNode {
  const facts = fieldFacts.get(schema);
  if (facts) return fieldNode(schema, facts);
  const inner = schema instanceof z.ZodPrefault ? (schema.unwrap() as z.ZodType) : schema;
  if (inner instanceof z.ZodObject) {
    const children = Object.entries(inner.shape).map(
      ([name, child]) => [name, nodeOf(child as z.ZodType)] as const,
    );
    return { kind: 'group', children: new Map(children) };
  }
  if (inner instanceof z.ZodRecord) {
    const child = nodeOf(inner.valueType as z.ZodType);
    if (child.kind !== 'group') throw new Error('a keyed group must hold groups');
    return { kind: 'keyed', name: inner.keyType as z.ZodType, child };
  }
  throw new Error(`neither a field nor a group: ${inner.type}`);
}

function fieldNode(schema: z.ZodType, facts: FieldFacts): FieldNode {
  if (schema instanceof z.ZodDefault) {
    return {
      kind: 'field',
      ...facts,
      schema,
      value: schema.unwrap() as z.ZodType,
      default: schema.parse(undefined),
    };
  }
  if (schema instanceof z.ZodOptional) {
    return { kind: 'field', ...facts, schema, value: schema.unwrap() as z.ZodType, default: undefined };
  }
  throw new Error('a field must be created by field() or optionalField()');
}

export function rootOf(schema: z.ZodType): GroupNode {
  const root = nodeOf(schema);
  if (root.kind !== 'group') throw new Error('the configuration must be a group');
  return root;
}

/** The child of a node by name; in a keyed group every name has one. */
export function childOf(node: GroupNode | KeyedNode, name: string): ConfigNode | undefined {
  return node.kind === 'keyed' ? node.child : node.children.get(name);
}

export type CataloguedField = { path: KeyPath; field: FieldNode };

/** `inside`: what is wrong within a list or an object. */
export type Accepted = { ok: true; value: unknown } | { ok: false; inside?: string | undefined };

/** Checks a value against a field, in the field's own spelling. */
export function acceptValue(field: FieldNode, raw: unknown): Accepted {
  const parsed = field.value.safeParse(field.canonical ? field.canonical(raw) : raw, ownMessages);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, inside: locationOf(field.value, parsed.error) };
}

/** `0.when.event: expected a text of at most 200 characters`, `0: unknown key "wen"; did you mean when?` */
function locationOf(schema: z.ZodType, { issues }: z.ZodError): string | undefined {
  // A misspelt key is also missing: report the misspelling.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined || issue.path.length === 0) return undefined;
  const where = issue.path.join('.');
  const field = fieldAt(schema, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys;
    const meant = nearest(unknown, field instanceof z.ZodObject ? Object.keys(field.shape) : []);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    return `${where}: unknown key ${JSON.stringify(unknown.slice(0, 60))}${hint}`;
  }
  if (issue.message !== '') return `${where}: ${issue.message}`;
  return issue.input === undefined ? `${where} is missing` : `${where}: expected ${expectedIn(field)}`;
}

/** Every field below a node; a keyed group is entered once for each of `names`. */
export function fieldsBelow(
  node: ConfigNode,
  path: KeyPath,
  namesAt: (path: KeyPath) => Iterable<string>,
): CataloguedField[] {
  if (node.kind === 'field') return [{ path, field: node }];
  const entries =
    node.kind === 'group'
      ? [...node.children]
      : [...namesAt(path)].map((name) => [name, node.child as ConfigNode] as const);
  return entries.flatMap(([name, child]) => fieldsBelow(child, [...path, name], namesAt));
}
