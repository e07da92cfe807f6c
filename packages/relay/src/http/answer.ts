// Answers on node:http: all headers in one call, the length always known, and a connection that stays usable.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RefusalCode, refusalOf } from './refusals.ts';

const LINGER_MS = 2_000;
/** A body up to this size is read and dropped, so that its connection can be kept. */
const SMALL_BODY = 1024 * 1024;
const RETRY_SECONDS = 5;

export function answerJson(
  response: ServerResponse,
  status: number,
  text: string,
  more: readonly string[] = [],
): void {
  if (response.destroyed) return;
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    ...more,
  ]);
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** `waitMs` becomes `Retry-After`, which every 429 and 503 has. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  code: RefusalCode,
  waitMs?: number,
): void {
  if (response.destroyed) return;
  const { status, body } = refusalOf(code);
  const more: string[] = [];
  if (status === 429 || status === 503)
    more.push('Retry-After', String(waitMs === undefined ? RETRY_SECONDS : Math.ceil(waitMs / 1000)));
  if (status === 401) more.push('WWW-Authenticate', 'Bearer');
  if (request.complete || isSmall(request)) return answerJson(response, status, body, more);
  lingerAfter(request, response, status, body, more);
}

/** What follows a refusal on the wire is dropped by node:http itself; that is only fair while it is little. */
function isSmall(request: IncomingMessage): boolean {
  if (request.headers['transfer-encoding'] !== undefined) return false;
  // Whoever asked before sending has not sent anything, and will not.
  if (request.headers.expect !== undefined) return false;
  return Number(request.headers['content-length'] ?? 0) <= SMALL_BODY;
}

/**
 * The answer is sent, and the connection closed a little later: closed at once, with bytes still coming in,
 * it would be reset, and the sender would never see the answer.
 */
function lingerAfter(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string,
  more: readonly string[],
): void {
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Connection',
    'close',
    ...more,
  ]);
  response.write(body);
  const enough = setTimeout(() => response.end(), LINGER_MS);
  const end = (): void => {
    clearTimeout(enough);
    response.end();
  };
  request.once('end', end);
  request.once('close', end);
  request.resume();
}
