// Answers on node:http: all headers in one call, always with a length, and the connection stays usable.
import type { IncomingMessage, ServerResponse } from 'node:http';

const LINGER_MS = 2_000;
/** A body up to this size is read and dropped, so its connection can be kept. */
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

/** After a refusal node:http reads and drops the rest of the body; that is acceptable only if it is small. */
function isSmall(request: IncomingMessage): boolean {
  if (request.headers['transfer-encoding'] !== undefined) return false;
  // A sender with `Expect` has not sent its body, and will not.
  if (request.headers.expect !== undefined) return false;
  return Number(request.headers['content-length'] ?? 0) <= SMALL_BODY;
}

/**
 * Sends the answer and closes the connection a little later: closed at once, with bytes still arriving, it would be
 * reset, and the sender would never see the answer.
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

// Every refusal: its code, HTTP status, message and remedy. The codes are also the outcomes in the metrics.
const refusals = {
  'bad-request': { status: 400, error: 'The request cannot be understood.', remedy: undefined },
  'bad-position': {
    status: 400,
    error: '`since` is not a position.',
    remedy: 'Give an id of this channel (<epoch>.<number>), `oldest` or `new`.',
  },
  'bad-subscriber': {
    status: 400,
    error: '`subscriber` is not a valid name.',
    remedy: 'Use 1 to 64 letters, digits, dots, hyphens and underscores.',
  },
  'key-needed': {
    status: 401,
    error: 'Reading this channel requires its read key.',
    remedy: 'Send it as `Authorization: Bearer <key>`, or in the header `X-Svc-Relay-Key`.',
  },
  'create-key-needed': {
    status: 401,
    error: "Making a channel at this relay requires the operator's key.",
    remedy: 'Send it as `Authorization: Bearer <key>`.',
  },
  'open-channels-off': {
    status: 403,
    error: 'This relay does not make open channels.',
    remedy: 'Make one with a read key: `POST /new`. The operator can allow open channels: `--open-channels`.',
  },
  'sender-not-allowed': {
    status: 403,
    error: 'This relay does not accept deliveries from your address.',
    remedy: 'The operator can allow it: `--allow-senders`.',
  },
  'metrics-are-local': {
    status: 403,
    error: 'Metrics are available only to local and private addresses.',
    remedy: 'Ask from the same network, not through the public address.',
  },
  'bad-signature': {
    status: 401,
    error: 'The signature of the record is missing or does not match.',
    remedy: 'Sign the channel, the path and the body with the key of the machine: `X-Svc-Signature`.',
  },
  'not-a-member': {
    status: 403,
    error: 'This machine is not in the roster of the team, or the path belongs to another one.',
    remedy: 'Ask the administrator of the team for an invitation.',
  },
  'old-version': {
    status: 409,
    error: 'A newer version of this record is stored.',
    remedy: 'Read it, then write a higher version.',
  },
  'record-too-large': {
    status: 413,
    error: 'The record is larger than 64 KiB, or the roster than 256 KiB.',
    remedy: undefined,
  },
  'too-many-records': {
    status: 429,
    error: 'This machine has as many records as a machine may have.',
    remedy: 'Remove some.',
  },
  'unknown-channel': {
    status: 404,
    error: 'No such channel.',
    remedy: 'Make one: `POST /new`.',
  },
  'no-such-route': { status: 404, error: 'No such route.', remedy: undefined },
  'wrong-method': { status: 405, error: 'This address does not accept that method.', remedy: undefined },
  'cut-off': { status: 408, error: 'The body was cut off.', remedy: 'Send it again.' },
  'too-large': { status: 413, error: 'The body is larger than 25 MiB.', remedy: undefined },
  'rate-limited': {
    status: 429,
    error: 'A rate limit is exceeded.',
    remedy: 'Send it again after the time in `Retry-After`.',
  },
  'too-many-subscribers': {
    status: 429,
    error: 'This channel or your address has reached its limit of open streams.',
    remedy: 'Close one, or ask the operator: `--subscribers-per-channel`, `--subscribers-per-address`.',
  },
  failed: { status: 500, error: 'The relay failed to answer.', remedy: 'Send it again.' },
  busy: { status: 503, error: 'The relay is at its memory limit.', remedy: 'Send it again.' },
  'engine-unavailable': {
    status: 503,
    error: 'The delivery could not be stored in time, or what is stored could not be read.',
    remedy: 'Send it again after the time in `Retry-After`. Nothing that was answered with 2xx is affected.',
  },
} as const;

export type RefusalCode = keyof typeof refusals;

function refusalOf(code: RefusalCode): { status: number; body: string } {
  const { status, error, remedy } = refusals[code];
  return { status, body: JSON.stringify({ error, code, remedy }) };
}
