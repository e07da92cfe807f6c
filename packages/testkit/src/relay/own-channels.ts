// The channels of our own relay over HTTP: `POST /new`, read keys, and unknown channels.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export type OwnChannels = {
  /** True if it was a `POST /new` and is answered. */
  answerNew: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** True if it was a `GET /:channel/status` and is answered; `readersOf` lists the readers. */
  answerStatus: (
    request: IncomingMessage,
    response: ServerResponse,
    readersOf: (channel: string) => readonly string[],
  ) => boolean;
  exists: (channel: string) => boolean;
  /** True if the subscriber was rejected: no such channel, or a wrong key. */
  refuseReader: (channel: string, request: IncomingMessage, response: ServerResponse) => boolean;
};

export function createOwnChannels(options: {
  readKey: string | undefined;
  createKey: string | undefined;
  strict: boolean;
}): OwnChannels {
  const keys = new Map<string, string>();
  const exists = (channel: string): boolean => !options.strict || keys.has(channel);

  const refuseReader: OwnChannels['refuseReader'] = (channel, request, response) => {
    const key = keys.get(channel) ?? options.readKey;
    if (!exists(channel)) refuse(response, 404, 'unknown-channel');
    else if (key !== undefined && !brings(request, key)) refuse(response, 401, 'key-needed');
    else return false;
    return true;
  };

  return {
    exists,
    refuseReader,
    answerStatus(request, response, readersOf) {
      const channel = /^\/([^/?]+)\/status$/.exec(request.url ?? '')?.[1];
      if (request.method !== 'GET' || channel === undefined) return false;
      if (refuseReader(channel, request, response)) return true;
      const named = readersOf(channel).map((subscriber) => ({ subscriber, lag: 0 }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ subscribers: { named } }));
      return true;
    },
    answerNew(request, response) {
      const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`);
      if (request.method !== 'POST' || url.pathname !== '/new') return false;
      request.resume();
      if (options.createKey !== undefined && !brings(request, options.createKey)) {
        refuse(response, 401, 'create-key-needed');
        return true;
      }
      const channel = randomBytes(16).toString('base64url');
      const readKey = randomBytes(32).toString('base64url');
      keys.set(channel, readKey);
      const address = `${url.origin}/${channel}`;
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ channel, writeUrl: address, readUrl: address, readKey }));
      return true;
    },
  };
}

function brings({ headers }: IncomingMessage, key: string): boolean {
  return headers.authorization === `Bearer ${key}`;
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...challenge });
  response.end(JSON.stringify({ error: 'Refused.', code }));
}
