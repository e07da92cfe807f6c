// Every contract as a JSON Schema, by the name of its file in schemas/.
import { z } from 'zod';
import { fileSchema } from './config/file-schemas.ts';
import { WorkflowContext } from './context/workflow-context.ts';
import { Finding } from './feedback/findings.ts';
import { eventLineByTopic } from './log/parse-event.ts';
import { SignalFile } from './runs/signal-file.ts';

export function jsonSchemaOf(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7', reused: 'ref' });
}

export const contracts: ReadonlyMap<string, () => z.ZodType> = new Map<string, () => z.ZodType>([
  ['config-project', () => fileSchema(['project'])],
  ['config-secrets', () => fileSchema(['secrets'])],
  ['config-global', () => fileSchema(['global', 'secrets'])],
  ['event-line', eventLineByTopic],
  ['signal-file', () => SignalFile],
  ['workflow-context', () => WorkflowContext],
  ['finding', () => Finding],
]);
