// How long something took lately.
import { z } from 'zod';

// The daemon's own metrics.

export type RecentTimes = z.infer<typeof Times>;

export const Times = z.object({
  count: z.int().describe('All since the daemon started'),
  sampled: z.int().describe('How many of the newest samples the percentiles cover'),
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
});
