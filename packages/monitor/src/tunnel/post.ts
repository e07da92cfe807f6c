// Posts to a channel, as a sender does; through the proxy, where there is one.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Environment } from '@svc/core';

type PostRequest = {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signal: AbortSignal;
};

/** The status of the answer; rejects when there is none. */
export type Post = (request: PostRequest) => Promise<number>;

export function createPost({ proxy }: { proxy: Environment }): Post {
  const plain = new PlainAgent({ proxyEnv: proxy });
  const secure = new SecureAgent({ proxyEnv: proxy });
  return ({ url, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const options = { method: 'POST', headers, signal };
      const outgoing = url.startsWith('https:')
        ? secureRequest(url, { ...options, agent: secure })
        : plainRequest(url, { ...options, agent: plain });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        // Only the status counts; whatever becomes of the rest is nothing to us.
        response.on('error', () => undefined);
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      outgoing.end(body);
    });
}
