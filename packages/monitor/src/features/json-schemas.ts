// Every contract as a JSON Schema, by the name of its file in schemas/.

import { SignalFile } from '@svc/contract/signal-file';
import { z } from 'zod';
import type { Layer } from '../kernel/config/field.ts';
import type { ConfigNode } from '../kernel/config/tree.ts';
import { eventLineByTopic } from '../kernel/log/event-line.ts';
import { configTree } from './configure.ts';
import { WorkflowContext } from './context/workflow-context.ts';
import { Finding } from './findings/findings.ts';
import { topics } from './topics.ts';

export function jsonSchemaOf(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7', reused: 'ref' });
}

export const contracts: ReadonlyMap<string, () => z.ZodType> = new Map<string, () => z.ZodType>([
  ['config-project', () => fileSchema(['project'])],
  ['config-secrets', () => fileSchema(['secrets'])],
  ['config-global', () => fileSchema(['global', 'secrets'])],
  ['event-line', () => eventLineByTopic(topics)],
  ['signal-file', () => SignalFile],
  ['workflow-context', () => WorkflowContext],
  ['finding', () => Finding],
]);

// What each configuration file may hold, derived from the fields: the source of the JSON Schemas.

/** The schema of one file. Unknown keys are allowed here; `config validate` lists them. */
function fileSchema(allowed: readonly Layer[]): z.ZodType {
  const root = schemaOf(configTree, allowed);
  if (!(root instanceof z.ZodObject)) throw new Error(`no field is allowed in ${allowed.join(', ')}`);
  return root.extend({ $schema: z.string().optional() });
}

function schemaOf(node: ConfigNode, allowed: readonly Layer[]): z.ZodType | undefined {
  if (node.kind === 'field') {
    if (!node.layers.some((layer) => allowed.includes(layer))) return undefined;
    return node.schema instanceof z.ZodDefault
      ? node.schema
      : node.value.optional().describe(node.description);
  }
  if (node.kind === 'keyed') {
    const child = schemaOf(node.child, allowed);
    return child && z.record(z.string(), child).optional();
  }
  const children = [...node.children].flatMap(([name, child]) => {
    const schema = schemaOf(child, allowed);
    return schema ? [[name, schema] as const] : [];
  });
  if (children.length === 0) return undefined;
  return node === configTree
    ? z.looseObject(Object.fromEntries(children))
    : z.looseObject(Object.fromEntries(children)).optional();
}
