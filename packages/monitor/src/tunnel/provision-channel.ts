// Makes a channel at a relay: it answers `HEAD /new` with a redirect to the channel's own URL.
import { Failure } from '../errors.ts';

const PATIENCE_MS = 15_000;

export async function provisionChannel(relayUrl: string, get: typeof fetch): Promise<string> {
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
    return channel.href;
  throw new Failure(
    'relay-unavailable',
    `The relay ${relayUrl} gave no channel (it answered ${response.status}).`,
    'Try again, or name another relay in SVC_RELAY_URL.',
  );
}
