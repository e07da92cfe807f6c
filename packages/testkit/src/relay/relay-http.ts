// The web side that all our relays have in common: `/new`, posting to a channel, subscribing to one. What a
// relay does with a post or a subscriber is its own.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { channelPattern } from './post-rules.ts';

export type RelayHandlers = {
  /** May answer anything before the rules of the relay apply; true when it did. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean;
  post: (
    channel: string,
    request: IncomingMessage,
    raw: Buffer,
    query: URLSearchParams,
  ) => { status: number; problem?: string };
  subscribe: (
    channel: string,
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ) => void;
};

export type RelayHttp = {
  url: string;
  port: number;
  newChannel: () => string;
  /** Cuts every connection, without a word. */
  cutAll: () => void;
  close: () => Promise<void>;
  listen: () => Promise<void>;
};

export async function startRelayHttp(handlers: RelayHandlers): Promise<RelayHttp> {
  const sockets = new Set<Socket>();
  let port = 0;

  const server = createServer((request, response) => {
    if (handlers.before?.(request, response) === true) return;
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`);
    const [, channel = '', rest] = url.pathname.split('/');
    if (channel === 'new' && rest === undefined) return redirectToNew(url, response);
    if (!channelPattern.test(channel)) return answer(response, 400, 'params/channel must match pattern');
    if (request.method === 'POST') return void take(channel, rest, request, response, url.searchParams);
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (rest !== undefined || !reads) return answer(response, 404, 'Not Found');
    if (request.method === 'GET' && request.headers.accept === 'text/event-stream')
      return handlers.subscribe(channel, request, response, url.searchParams);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><title>A channel</title>');
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  async function take(
    channel: string,
    rest: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<void> {
    try {
      const raw = await buffer(request);
      // The public relay answers 200 here, too, and delivers nothing.
      const { status, problem } =
        rest === 'redeliver' ? { status: 200 } : handlers.post(channel, request, raw, query);
      answer(response, status, problem);
    } catch {
      response.destroy();
    }
  }

  async function listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
  }

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  await listen();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    newChannel: () => `http://127.0.0.1:${port}/${newChannelId()}`,
    cutAll,
    listen,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cutAll();
      await closed;
    },
  };
}

/** 96 bits, as the public relay makes them. */
function newChannelId(): string {
  return randomBytes(12).toString('base64url');
}

function redirectToNew(url: URL, response: ServerResponse): void {
  response.writeHead(307, { location: `${url.origin}/${newChannelId()}` });
  response.end();
}

function answer(response: ServerResponse, status: number, problem?: string): void {
  if (problem === undefined) {
    response.writeHead(status);
    response.end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ statusCode: status, message: problem }));
}
