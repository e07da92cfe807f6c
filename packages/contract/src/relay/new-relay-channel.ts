// The answer of a relay that creates a channel.
import { z } from 'zod';

// A new channel of our own relay: the answer of `POST /new`, and which relay a channel belongs to.

/** The write URL accepts deliveries; the read key opens the stream. Neither gives access to the other. */
export const NewRelayChannel = z.object({
  channel: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  writeUrl: z.url({ protocol: /^https?$/ }),
  readUrl: z.url({ protocol: /^https?$/ }),
  /** Null for a channel that anyone with its URL may read. */
  readKey: z
    .string()
    .regex(/^[\x21-\x7e]{16,512}$/)
    .nullable(),
});

export type NewRelayChannel = z.infer<typeof NewRelayChannel>;
