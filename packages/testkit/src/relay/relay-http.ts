// The HTTP part that all our relays share: `/new`, posting to a channel, subscribing to one. Each relay handles posts
// and subscribers in its own way.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type RelayHandlers = {
  /** May answer any request before the rules of the relay apply; true if it did. */
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
  /** Cuts every connection without an answer. */
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

/** 96 bits, like those of the public relay. */
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

// What the public relay accepts at `POST /:channel`, and how it rejects the rest: the rules of its framework (body
// limit, JSON only, no poisoned prototypes) and of its own schema.

const PUBLIC_BODY_LIMIT = 1024 * 1024;
const channelPattern = /^[a-zA-Z0-9-_]{1,128}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export type Ruling = { ok: true; body: object } | { ok: false; status: number; problem: string };

export function rulingOn(headers: IncomingHttpHeaders, raw: Buffer): Ruling {
  const delivery = headers['x-github-delivery'];
  const signature = headers['x-hub-signature-256'];
  if (!/^application\/json(\s*;.*)?$/i.test(headers['content-type'] ?? ''))
    return { ok: false, status: 415, problem: 'Unsupported Media Type' };
  if (raw.length > PUBLIC_BODY_LIMIT) return { ok: false, status: 413, problem: 'Request body is too large' };
  const body = parsed(raw);
  if (body === undefined) return { ok: false, status: 400, problem: 'body must be object' };
  if (delivery !== undefined && !uuid.test(String(delivery)))
    return { ok: false, status: 400, problem: 'headers/x-github-delivery must match format "uuid"' };
  if (signature !== undefined && !/^sha256=[a-f0-9]{64}$/.test(String(signature)))
    return { ok: false, status: 400, problem: 'headers/x-hub-signature-256 must match pattern' };
  return { ok: true, body };
}

function parsed(raw: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isPoisoned(value) ? undefined : value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A `__proto__` key, or `constructor.prototype`, at any depth. */
function isPoisoned(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  const made: unknown = Object.hasOwn(value, 'constructor') ? Reflect.get(value, 'constructor') : undefined;
  if (typeof made === 'object' && made !== null && Object.hasOwn(made, 'prototype')) return true;
  return Object.values(value).some(isPoisoned);
}
