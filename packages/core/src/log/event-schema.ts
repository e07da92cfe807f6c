// The event line as one schema, each family of topics with its own detail: the source of the JSON Schema.
// Readers use parseEventLine, which is faster.
import { z } from 'zod';
import { EventLine } from './event-line.ts';
import { detailSchemaFor, topics } from './topics.ts';

export function eventLineByTopic(): z.ZodType {
  const families = Map.groupBy(topics, (topic) => detailSchemaFor(topic) as z.ZodType);
  const variants = [...families].map(([detail, names]) => EventLine.extend({ event: z.enum(names), detail }));
  return z.union(variants);
}
