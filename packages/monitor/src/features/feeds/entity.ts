// A feed as the API shows it.
import { z } from 'zod';
import { key } from '../../kernel/board/entity-fields.ts';
import { Seq } from '../../kernel/http/api-route.ts';

export type Feed = z.infer<typeof Feed>;

export const Feed = z
  .object({
    key,
    feed: z.string(),
    grade: z.string(),
    since: z.string(),
    reason: z.string().nullable(),
    remedy: z.string().nullable(),
    lastSeq: Seq,
  })
  .meta({ id: 'Feed' });
