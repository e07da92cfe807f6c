// Makes a channel at a relay of our own (svc-relay): `POST /new` answers with its URL and its read key. What
// comes back is checked, and never printed: the key is a secret.
import { isPrivateWay, NewRelayChannel, relayOfChannel, relayUrl, retryAfterMs } from '@svc/core';
import { Failure, systemErrorCode } from '../errors.ts';
import type { ProvisionedChannel } from './channel-setup.ts';

const PATIENCE_MS = 15_000;
const MAX_ANSWER_CHARACTERS = 16 * 1024;
/** Holds the key of a relay that does not make channels for everybody. */
export const CREATE_KEY_VARIABLE = 'SVC_RELAY_CREATE_KEY';

/** The relay as it was named on the command line, in one spelling. */
export function ownRelayUrl(text: string): string {
  const url = relayUrl(text);
  if (url !== undefined && isPrivateWay(url)) return url;
  throw new Failure(
    'usage',
    `--relay: expected an https URL, or an http one of this machine, found ${JSON.stringify(text)}.`,
    'The read key comes back over this connection, so it must be encrypted.',
  );
}

export async function provisionOwnChannel(
  relay: string,
  { post, createKey }: { post: typeof fetch; createKey: string | undefined },
): Promise<ProvisionedChannel> {
  const response = await ask(relay, post, createKey);
  if (response.status !== 201) throw refusal(relay, response, createKey !== undefined);
  const made = NewRelayChannel.safeParse(await jsonIn(response));
  if (!made.success) throw notARelay(relay, 'its answer to POST /new is not one of svc-relay');
  const { writeUrl, readUrl, readKey } = made.data;
  const own = relayOfChannel(writeUrl);
  if (own !== relay || relayOfChannel(readUrl) !== relay)
    throw new Failure(
      'relay-unavailable',
      `The relay ${relay} gives its channels another address: ${own ?? writeUrl}.`,
      `Name that one: setup-webhooks.sh --relay ${own ?? writeUrl}; if it is wrong, start the relay with --public-url ${relay}`,
    );
  return { url: writeUrl, readKey };
}

async function ask(relay: string, post: typeof fetch, createKey: string | undefined): Promise<Response> {
  try {
    return await post(`${relay}/new`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(createKey !== undefined && { authorization: `Bearer ${createKey}` }),
      },
      body: '{}',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch (error) {
    throw new Failure(
      'relay-unavailable',
      `The relay ${relay} cannot be reached: ${reasonOf(error)}.`,
      `Check the address, and that it runs: curl ${relay}/healthz`,
    );
  }
}

function refusal(relay: string, { status, headers }: Response, hadKey: boolean): Failure {
  const no = (what: string, remedy: string): Failure =>
    new Failure('relay-unavailable', `The relay ${relay} ${what} (${status}).`, remedy);
  switch (status) {
    case 401:
      return no(
        hadKey
          ? `does not accept the create key in ${CREATE_KEY_VARIABLE}`
          : 'makes channels only for those who have its create key',
        `Ask who runs it for the create key, set ${CREATE_KEY_VARIABLE}, and run this again.`,
      );
    case 403:
      return no('refuses to make a channel', 'Ask who runs it whether this machine may use it.');
    case 429: {
      const wait = retryAfterMs(headers.get('retry-after') ?? undefined, Date.now());
      return no(
        'has made enough channels for this address',
        wait === undefined ? 'Try again later.' : `Try again in ${Math.ceil(wait / 1000)} s.`,
      );
    }
    case 500:
    case 502:
    case 503:
    case 504:
      return no('cannot make a channel now', `Try again; what is wrong there: curl ${relay}/readyz`);
    default:
      return notARelay(relay, `POST /new was answered ${status}`);
  }
}

function notARelay(relay: string, why: string): Failure {
  return new Failure(
    'relay-unavailable',
    `${relay} is no relay of svc: ${why}.`,
    'Name the address of svc-relay. For a public relay leave --relay out and set SVC_RELAY_URL.',
  );
}

async function jsonIn(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text.length > MAX_ANSWER_CHARACTERS) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What fetch wraps says more than the wrapping. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return systemErrorCode(cause) ?? (cause instanceof Error ? cause.message : String(cause));
}
