// Opens the stream: one GET over node:http or node:https, redirects followed. What cannot be opened is an
// answer too, in words that a person can act on.
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Environment } from '@svc/core';

export type RelayAnswer = {
  status: number;
  header: (name: string) => string | undefined;
  body: AsyncIterable<Uint8Array>;
};

export type RelayRequest = { url: URL; headers: Record<string, string>; signal: AbortSignal };

/** Rejects when there is no answer at all. Aborting the signal ends the body, too. */
export type Connect = (request: RelayRequest) => Promise<RelayAnswer>;

const MAX_REDIRECTS = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The way out; `proxy` is an environment with HTTPS_PROXY, HTTP_PROXY and NO_PROXY, where they count. */
export function createConnect({ proxy }: { proxy?: Environment } = {}): Connect {
  const options = { keepAlive: false, ...(proxy && { proxyEnv: proxy }) };
  const plain = new PlainAgent(options);
  const secure = new SecureAgent(options);
  return ({ url, headers, signal }) =>
    new Promise((resolve, reject) => {
      const outgoing =
        url.protocol === 'https:'
          ? secureRequest(url, { headers, signal, agent: secure })
          : plainRequest(url, { headers, signal, agent: plain });
      outgoing.on('socket', (socket) => socket.setKeepAlive(true, 30_000));
      outgoing.on('error', reject);
      outgoing.on('response', (response) => resolve(answerOf(response)));
      outgoing.end();
    });
}

function answerOf(response: IncomingMessage): RelayAnswer {
  // Whoever does not read the body must not be hit by its end.
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return typeof value === 'string' ? value : value?.[0];
    },
    body: response,
  };
}

export type Followed = { ok: true; answer: RelayAnswer } | { ok: false; why: string };

/**
 * Follows redirects. The key goes to no other origin, and nothing goes from https to http: the channel's
 * address is a secret of its own.
 */
export async function follow(connect: Connect, request: RelayRequest): Promise<Followed> {
  let { url, headers } = request;
  for (let step = 0; step <= MAX_REDIRECTS; step += 1) {
    const answer = await connect({ url, headers, signal: request.signal });
    const location = answer.header('location');
    if (!redirects.has(answer.status) || location === undefined) return { ok: true, answer };
    if (!URL.canParse(location, url.href))
      return { ok: false, why: 'it redirects to an address that is none' };
    const next = new URL(location, url);
    if (next.protocol !== 'https:' && next.protocol !== url.protocol)
      return { ok: false, why: 'it redirects from https to something less safe' };
    if (next.origin !== url.origin) headers = without(headers, 'authorization');
    url = next;
  }
  return { ok: false, why: 'it redirects in a circle' };
}

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
}
