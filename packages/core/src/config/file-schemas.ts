// What each configuration file may hold, derived from the fields: the source of the JSON Schemas.
import { z } from 'zod';
import type { Layer } from './layers.ts';
import { type ConfigNode, configTree } from './tree.ts';

/** The schema of one file. Unknown keys are allowed here; `config validate` lists them. */
export function fileSchema(allowed: readonly Layer[]): z.ZodType {
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
