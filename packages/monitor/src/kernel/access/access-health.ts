// Who gets an answer, and who was refused, as health reports it.
import { z } from 'zod';

export const AccessHealth = z.object({
  by: z
    .enum(['owner', 'token'])
    .describe(
      'owner: only connections of the daemon’s user and root are accepted; token: only requests with the token',
    ),
  refused: z.record(z.string(), z.int()).describe('Refused connections and requests, by reason'),
  readOnly: z
    .boolean()
    .exactOptional()
    .describe('The daemon only shows the board of the team (svc team serve)'),
});
export type AccessHealth = z.infer<typeof AccessHealth>;
