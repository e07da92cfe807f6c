// A new channel of a relay of ours: what `POST /new` answers, and which relay a channel belongs to.
import { z } from 'zod';
import { channelUrl } from './feed-channel.ts';

/** The write URL takes deliveries; the read key opens the stream. Whoever has one has not the other. */
export const NewRelayChannel = z.object({
  channel: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  writeUrl: z.url({ protocol: /^https?$/ }),
  readUrl: z.url({ protocol: /^https?$/ }),
  /** Null for a channel that anybody with its URL may read. */
  readKey: z
    .string()
    .regex(/^[\x21-\x7e]{16,512}$/)
    .nullable(),
});
export type NewRelayChannel = z.infer<typeof NewRelayChannel>;

/** `relayOfChannel('https://relay.example/hooks/AbC')` is `https://relay.example/hooks`. */
export function relayOfChannel(channel: string): string | undefined {
  const url = channelUrl(channel);
  return url === undefined ? undefined : relayUrl(new URL('.', url).href);
}

/** One spelling for one relay: no query, no slash at its end. */
export function relayUrl(text: string): string | undefined {
  const href = channelUrl(text);
  if (href === undefined) return undefined;
  const url = new URL(href);
  url.search = '';
  return url.href.replace(/\/+$/, '');
}
