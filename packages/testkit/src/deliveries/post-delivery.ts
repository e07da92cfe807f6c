// Posts deliveries over kept-alive connections, as many at once as the caller starts.
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { WAIT_MS } from '../waiting.ts';
import type { SignedDelivery } from './signed-delivery.ts';

/** A receiver's answer: `{ok, event, id}`, `{ok, duplicate, id}` or `{error, code, remedy}`. */
export type AnswerBody = { ok?: boolean; event?: string; duplicate?: boolean; id?: string; code?: string };
export type DeliveryAnswer = { status: number; body: AnswerBody };

export type Post = {
  /** Rejects without a complete answer: refused, reset, cut off. */
  post: (delivery: SignedDelivery) => Promise<DeliveryAnswer>;
  close: () => void;
};

export function createPost(port: number, path = '/api/webhook'): Post {
  const agent = new Agent({ keepAlive: true });
  return {
    post: ({ headers, body }) =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          { host: '127.0.0.1', port, path, method: 'POST', agent, timeout: WAIT_MS },
          (response) => {
            json(response).then(
              (answer) => resolve({ status: response.statusCode ?? 0, body: answer as AnswerBody }),
              reject,
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer after ${WAIT_MS} ms`)));
        for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
        outgoing.setHeader('content-length', body.length);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
