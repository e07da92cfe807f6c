// The fields that we use of an issue at the code host.
import { z } from 'zod';

export const CodehostIssue = z.object({
  number: z.int().positive(),
  html_url: z.string().max(2_000),
  body: z.string().nullish(),
});

export type CodehostIssue = z.infer<typeof CodehostIssue>;
