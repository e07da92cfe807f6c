// How each fault looks on the wire.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrackerFault } from './faults.ts';
import { Refusal, refusalBody } from './refusal.ts';

/** Faults that answer in place of the tracker. Returns whether the request is dealt with. */
export async function preempt(fault: TrackerFault, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case 'unauthorised':
      send(response, 401, refusalBody(new Refusal('AUTHENTICATION_ERROR', 'Authentication required')));
      return true;
    case 'too-many-requests':
      send(response, 429, 'Too many requests', { 'Retry-After': fault.retryAfter });
      return true;
    case 'rate-limited':
      send(response, 400, refusalBody(new Refusal('RATELIMITED', 'Rate limit exceeded')));
      return true;
    case 'server-error':
      send(response, fault.status, '<html>something went wrong</html>');
      return true;
    case 'graphql-error':
      send(
        response,
        fault.status ?? 400,
        JSON.stringify({
          errors: [
            { message: fault.message, extensions: fault.code === undefined ? {} : { code: fault.code } },
          ],
        }),
      );
      return true;
    case 'body':
      send(response, 200, fault.text);
      return true;
    case 'huge':
      send(response, 200, JSON.stringify({ data: 'x'.repeat(fault.bytes) }));
      return true;
    case 'redirect':
      send(response, 302, '', { Location: fault.to });
      return true;
    case 'not-found':
      send(response, 404, fault.text);
      return true;
    case 'slow':
      await sleep(fault.ms);
      return response.destroyed;
    case 'cut':
      if (fault.when === 'before') cut(response, undefined);
      return fault.when === 'before';
  }
}

/** Ends the connection without a word, or after half of the answer. */
export function cut(response: ServerResponse, body: string | undefined): void {
  if (body === undefined) {
    response.destroy();
    return;
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}

export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(body);
}
