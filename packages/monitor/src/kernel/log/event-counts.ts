// How many events there are, by topic and by day.
import { z } from 'zod';
import { Seq, Time } from '../http/api-route.ts';
import { eventFamilies } from './event-families.ts';

export type EventCounts = z.infer<typeof EventCounts>;

export const EventCounts = z
  .object({
    from: Time,
    to: Time,
    bucketMs: z.number(),
    total: z.int(),
    buckets: z
      .array(
        z.object({
          at: Time,
          count: z.int(),
          families: z.partialRecord(z.enum(eventFamilies), z.int()),
        }),
      )
      .describe('Oldest first, without gaps'),
    indexedTo: Seq,
    complete: z.boolean().describe('False: counting took too long, so the oldest buckets are incomplete'),
  })
  .meta({ id: 'EventCounts' });
