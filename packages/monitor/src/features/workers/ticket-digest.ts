// What an agent has of the text of its ticket.
import { z } from 'zod';

export const TicketDigest = z.object({
  title: z.string().describe('hash of the title'),
  body: z.string().describe('hash of the body'),
  lastCommentAt: z.string().nullable().describe('when the newest comment was written'),
  lastComments: z.array(z.string()).max(20).describe('the ids of the comments of that time'),
});

export type TicketDigest = z.infer<typeof TicketDigest>;
