// Makes a channel at the public relay, or at one that speaks its protocol: it answers `HEAD /new` with a
// redirect to the channel's own URL. Whoever has that URL may write and read.
import { Failure } from '../errors.ts';
import type { ProvisionedChannel } from './channel-setup.ts';

const PATIENCE_MS = 15_000;

export async function provisionChannel(relayUrl: string, get: typeof fetch): Promise<ProvisionedChannel> {
  const ask = new URL('/new', relayUrl);
  let response: Response;
  try {
    response = await get(ask.href, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      'relay-unavailable',
      `The relay ${relayUrl} cannot be reached: ${why}.`,
      'Try again, or name another relay in SVC_RELAY_URL.',
    );
  }
  const location = response.headers.get('location');
  const channel = location === null ? null : URL.parse(location, ask.href);
  if (response.status >= 300 && response.status < 400 && channel !== null && channel.pathname.length > 1)
    return { url: channel.href, readKey: null };
  throw new Failure(
    'relay-unavailable',
    `The relay ${relayUrl} gave no channel (it answered ${response.status}).`,
    response.status === 401 || response.status === 403
      ? `If it is a relay of your own (svc-relay), run: setup-webhooks.sh --relay ${relayUrl}`
      : 'Try again, or name another relay in SVC_RELAY_URL.',
  );
}
