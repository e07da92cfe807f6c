// A finding: an improvement noticed during a run, one JSON line in the findings queue.
import { z } from 'zod';

export const FindingSeverity = z.enum(['low', 'medium', 'high']);

/** A severity as people write it: `med` is `medium`. Undefined for anything else. */
export function severityFrom(text: string): FindingSeverity | undefined {
  const word = text.trim().toLowerCase();
  return FindingSeverity.safeParse(word === 'med' ? 'medium' : word).data;
}

export const Finding = z.looseObject({
  ts: z.iso.datetime(),
  skill: z.string(),
  title: z.string().min(1),
  body: z.string(),
  severity: FindingSeverity,
  tags: z.array(z.string()),
});

export type FindingSeverity = z.infer<typeof FindingSeverity>;
export type Finding = z.infer<typeof Finding>;
