// Who else reads a channel, as a relay of our own tells in its status. A channel may be the whole team's, and
// whoever replaces it should know.
import { z } from 'zod';

const PATIENCE_MS = 5000;
const ChannelStatus = z.object({
  subscribers: z.object({ named: z.array(z.object({ subscriber: z.string() })) }),
});

/** How many other machines; undefined when the relay does not say. Nothing is changed by asking. */
export async function otherReaders(
  channel: string,
  given: { readKey: string; hostId: string; get: typeof fetch },
): Promise<number | undefined> {
  const response = await given
    .get(`${channel}/status`, {
      headers: { accept: 'application/json', authorization: `Bearer ${given.readKey}` },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    // A relay that is gone is a good reason to leave it.
    .catch(() => undefined);
  if (response === undefined || !response.ok) return undefined;
  const status = ChannelStatus.safeParse(await response.json().catch(() => undefined));
  if (!status.success) return undefined;
  return status.data.subscribers.named.filter(({ subscriber }) => subscriber !== given.hostId).length;
}
