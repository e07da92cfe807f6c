// What is recorded of a hand-over of an attention item.
import { z } from 'zod';

export const handOverFields = {
  to: z.string().describe('who is responsible now'),
  note: z.string().optional(),
  received: z
    .boolean()
    .optional()
    .describe('only if another member handed it over: whether a machine of that person has it'),
};
