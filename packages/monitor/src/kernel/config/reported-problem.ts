// A problem of the configuration as the routes report it.
import { z } from 'zod';

export type ReportedProblem = z.infer<typeof ConfigProblem>;

export const ConfigProblem = z
  .object({
    severity: z
      .enum(['error', 'ignored', 'deprecated'])
      .describe('ignored: nothing reads the key; deprecated: the key still works but will be removed'),
    file: z.string().describe('The file, or `environment`'),
    text: z.string(),
    remedy: z.string(),
  })
  .meta({ id: 'ConfigProblem' });
