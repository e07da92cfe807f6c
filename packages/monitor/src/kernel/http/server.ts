// The HTTP server. node:http answers deliveries directly, because they arrive by the thousand; Fastify answers every
// other route. Both have the same guard, limits and headers. Deliveries are signed and accepted from everyone;
// everything else only from clients that `access` admits.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { systemErrorCode } from '@svc/lib/errors';
import { type ByteBudget, createByteBudget } from '@svc/lib/read-body';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Access, Refusal } from '../access/access.ts';
import { asFailure, Failure } from '../failure.ts';
import { refusalOf, refusalOfSite } from './guard.ts';
import type { Routes } from './route.ts';

const MAX_JSON_BODY = 1024 * 1024;
/** Request bodies in memory at once, of all requests together; deliveries have their own limit. */
const MAX_JSON_UNDER_WAY = 32 * 1024 * 1024;
/** Bytes that all responses together may hold for clients that have not read them; streams have their own limit. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
/** Smaller responses are not counted: a connection gets one after the other. */
const LARGE_ANSWER = 64 * 1024;
const READ_WITHIN_MS = 100;
const KEEP_ALIVE_MS = 15_000;
const SWEEP_MS = 20;
const CLOSE_WITHIN_MS = 5_000;

/** Answers a request, or returns false and leaves it to the routes. */
export type DirectHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Called once for each response, with the route's name for its path. */
export type OnAnswer = (route: string, method: string, status: number, milliseconds: number) => void;

export type HttpServer = {
  /** On 127.0.0.1, and on ::1 if available. Resolves to the port. */
  listen: (port: number) => Promise<number>;
  /** Stops accepting, lets open requests finish, ends streams. */
  close: () => Promise<void>;
};

const securityHeaders: readonly (readonly [string, string])[] = [
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cache-Control', 'no-store'],
];

/** For programs: headers that only browsers use are left out. */
const jsonHeaders: readonly string[] = [
  'Content-Type',
  'application/json',
  'X-Content-Type-Options',
  'nosniff',
  'Cache-Control',
  'no-store',
];

type Handlers = {
  /** Deliveries: signed, and accepted from everyone. */
  deliver?: DirectHandler | undefined;
  show: DirectHandler;
  access: Pick<Access, 'refuseConnection' | 'refuseRequest' | 'guardsFiles'>;
};

export function createHttpServer(
  options: Handlers & { logger: Logger; routes: readonly Routes[]; onAnswer: OnAnswer },
): HttpServer {
  /** What `localhost` often resolves to. Fastify listens on 127.0.0.1. */
  let onIpv6: Server | undefined;
  const app = Fastify({
    serverFactory(handler) {
      onIpv6 = createGuardedServer(options, handler).on('clientError', answerBrokenRequest);
      return createGuardedServer(options, handler);
    },
    bodyLimit: MAX_JSON_BODY,
    // No route has a schema of Fastify's, whose compilers take longer to load than the rest of it.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: 'idle',
    frameworkErrors: (error, _request, reply) => void answerError(reply, error, options.logger),
    clientErrorHandler: answerBrokenRequest,
  });
  answerErrors(app, options.logger);
  app.addHook('onResponse', (request, reply, done) => {
    options.onAnswer(
      request.routeOptions.url ?? 'unknown',
      request.method,
      reply.statusCode,
      reply.elapsedTime,
    );
    done();
  });
  limitBodies(app, createByteBudget(MAX_JSON_UNDER_WAY));
  limitAnswers(app, createUnsentLimit(MAX_UNSENT_BYTES));
  for (const routes of options.routes) app.register(async (scope) => routes(scope));
  return {
    async listen(port) {
      await app.listen({ host: '127.0.0.1', port });
      const chosen = (app.server.address() as AddressInfo).port;
      if (onIpv6 !== undefined) await listenOnIpv6(onIpv6, chosen, port !== 0);
      return chosen;
    },
    close: () => closeGently(app, onIpv6),
  };
}

function noCompiler(): never {
  throw new Error('a route has a schema of Fastify');
}

/**
 * A machine without IPv6 has no ::1, which is fine. If another program has our configured port there, `localhost` would
 * reach that program, so it is an error; with a port chosen at random no client relies on `localhost`.
 */
async function listenOnIpv6(server: Server, port: number, mustBeOurs: boolean): Promise<void> {
  try {
    server.listen({ host: '::1', port, ipv6Only: true });
    await once(server, 'listening');
  } catch (error) {
    if (mustBeOurs && systemErrorCode(error) === 'EADDRINUSE') throw error;
  }
}

/** Open requests finish; kept-alive connections are closed as they become idle. */
async function closeGently(app: FastifyInstance, onIpv6: Server | undefined): Promise<void> {
  const servers = [app.server, ...(onIpv6 === undefined ? [] : [onIpv6])];
  const forEach = (work: (server: Server) => void) => () => servers.forEach(work);
  const sweep = setInterval(
    forEach((server) => server.closeIdleConnections()),
    SWEEP_MS,
  );
  const enough = setTimeout(
    forEach((server) => server.closeAllConnections()),
    CLOSE_WITHIN_MS,
  );
  try {
    const closed = onIpv6?.listening === true ? once(onIpv6.close(), 'close') : undefined;
    await app.close();
    await closed;
  } finally {
    clearInterval(sweep);
    clearTimeout(enough);
  }
}

function createGuardedServer(
  { deliver, show, access }: Handlers,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const inOrder = createRequestOrder();
  function answer(request: IncomingMessage, response: ServerResponse): void {
    inOrder(request.socket, response, () => answerNow(request, response));
  }
  function answerNow(request: IncomingMessage, response: ServerResponse): void {
    const denied = access.guardsFiles === true ? access.refuseRequest(request) : undefined;
    if (denied) return refuse(response, denied);
    if (show(request, response)) return;
    const refusal = access.refuseRequest(request) ?? refusalOfSite(request.headers);
    if (refusal) return refuse(response, refusal);
    for (const [name, value] of securityHeaders) response.setHeader(name, value);
    handler(request, response);
  }
  async function answerWhenKnown(
    judged: Promise<Refusal | undefined>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const refusal = await judged;
    if (refusal) refuse(response, refusal);
    else if (!response.destroyed) answer(request, response);
  }
  const server = createServer(
    {
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 32 * 1024,
    },
    (request, response) => {
      const refusal = refusalOf(request.method ?? 'GET', request.headers);
      if (refusal) return refuse(response, refusal);
      if (deliver?.(request, response) === true) return;
      const judged = access.refuseConnection(request.socket);
      if (judged instanceof Promise) return void answerWhenKnown(judged, request, response);
      if (judged) return refuse(response, judged);
      answer(request, response);
    },
  );
  server.maxRequestsPerSocket = 0;
  return server;
}

/**
 * A client may pipeline requests. They start one after the other: a client that does not read responses causes no more
 * work, and requests that still wait when the connection closes never start.
 */
function createRequestOrder() {
  const last = new WeakMap<Socket, ServerResponse>();
  return (socket: Socket, response: ServerResponse, begin: () => void): void => {
    const before = last.get(socket);
    last.set(socket, response);
    if (before === undefined || before.closed) return begin();
    before.once('close', () => {
      if (!socket.destroyed) begin();
    });
  };
}

/** A body counts against the budget from its first byte until its request is answered or gone. */
function limitBodies(app: FastifyInstance, budget: ByteBudget): void {
  app.addHook('preParsing', (request, reply, body, done) => {
    if (request.method === 'GET' || request.method === 'HEAD') return done(null, body);
    let taken = 0;
    reply.raw.once('close', () => budget.give(taken));
    const counted = new Transform({
      transform(part: Buffer, _encoding, next) {
        if (!budget.take(part.length))
          return next(new Failure('busy', 'Too many requests at once.', 'Try again in a moment.'));
        taken += part.length;
        next(null, part);
      },
    });
    // The reader of `counted` gets the error.
    pipeline(body, counted, () => undefined);
    done(null, counted);
  });
}

/** A response counts from when it is sent until its client has read it or is gone. */
function limitAnswers(app: FastifyInstance, unsent: UnsentLimit): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (typeof payload === 'string' && payload.length > LARGE_ANSWER) unsent.note(reply.raw);
    done(null, payload);
  });
}

type UnsentLimit = {
  /** Called when the client has not read what was written. */
  note: (response: ServerResponse) => void;
};

/**
 * When clients together leave more than `most` bytes unread, this cuts off the one that has not read for the longest
 * time, among those that hold at least about an average share. It checks a moment after each write: a client that reads
 * has caught up by then. A single client takes nothing from others and is never cut off.
 */
function createUnsentLimit(most: number): UnsentLimit {
  /** Responses with unread bytes, oldest first. */
  const behind = new Set<ServerResponse>();
  let soon: NodeJS.Timeout | undefined;
  function cutOff(): void {
    soon = undefined;
    for (;;) {
      const unsent = [...behind].reduce((sum, { writableLength }) => sum + writableLength, 0);
      if (unsent <= most || behind.size < 2) return;
      const much = unsent / behind.size / 2;
      const first = [...behind].find(({ writableLength }) => writableLength >= much);
      if (first === undefined) return;
      behind.delete(first);
      first.destroy();
    }
  }
  return {
    note(response) {
      soon ??= setTimeout(cutOff, READ_WITHIN_MS).unref();
      if (behind.has(response)) return;
      behind.add(response);
      const forget = (): void => {
        behind.delete(response);
        response.off('drain', forget).off('close', forget);
      };
      response.on('drain', forget).on('close', forget);
    },
  };
}

export type OpenStream = {
  response: ServerResponse;
  /** Aborted when the client is gone, or when the server closes. */
  signal: AbortSignal;
  /** Call it when the client has not read what was written. */
  onSlow: () => void;
};

/** Server-sent events. A stream never ends on its own; its client connects again and continues where it was. */
export function createStreams({ most, maxUnsentBytes }: { most: number; maxUnsentBytes: number }) {
  const open = new Set<AbortController>();
  const unsent = createUnsentLimit(maxUnsentBytes);
  return {
    endWith(app: FastifyInstance): void {
      app.addHook('preClose', (closed) => {
        for (const stream of open) stream.abort();
        closed();
      });
    },
    /** Takes over the response. Nothing is awaited in it, so two requests cannot take the last slot. */
    open(reply: FastifyReply): OpenStream {
      if (open.size >= most)
        throw new Failure('busy', 'Too many streams are open.', 'Close one and try again.');
      reply.hijack();
      const response = reply.raw;
      const gone = new AbortController();
      open.add(gone);
      const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
      const leave = (): void => {
        clearInterval(keepAlive);
        open.delete(gone);
        gone.abort();
      };
      response.once('close', leave);
      // The client may have left already; there is no second 'close' event.
      if (response.destroyed) leave();
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        Connection: 'keep-alive',
        'X-Accel-Buffering': 'no',
      });
      return { response, signal: gone.signal, onSlow: () => unsent.note(response) };
    },
  };
}

/** Also ends the connection: the unread rest of the body must not be parsed as the next request. */
function refuse(response: ServerResponse, { status, ...body }: Refusal): void {
  answerJson(response, status, body, [
    'Connection',
    'close',
    ...(status === 401 ? ['WWW-Authenticate', 'Bearer'] : []),
  ]);
}

/** A response outside Fastify. All headers go in one call, which a burst of deliveries needs. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: object,
  moreHeaders: readonly string[] = [],
): void {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, [...jsonHeaders, 'Content-Length', length, ...moreHeaders]);
  response.end(text);
}

/** Every error has the same shape: `{error, code, remedy?}`. */
function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({
      error: `No such route: ${request.method} ${request.url.split('?')[0]}.`,
      code: 'no-such-route',
    }),
  );
  app.setErrorHandler((error: Error, _request, reply) => {
    const known = asFailure(error) as Error;
    if (known !== error) logger.error({ err: error }, 'a file that a route needs cannot be used');
    return answerError(reply, known, logger);
  });
}

function answerError(
  reply: FastifyReply,
  error: Error & { statusCode?: number },
  logger: Logger,
): FastifyReply {
  if (error instanceof Failure) {
    return reply
      .code(error.status)
      .send({ error: error.message, code: error.code, ...(error.remedy && { remedy: error.remedy }) });
  }
  const status = error.statusCode ?? 500;
  const remedy = status === 413 ? { remedy: 'Send less in one request.' } : {};
  if (status < 500) return reply.code(status).send({ error: error.message, code: 'bad-request', ...remedy });
  logger.error({ err: error }, 'a route failed');
  return reply
    .code(500)
    .send({ error: 'The request failed in the daemon.', code: 'internal', remedy: 'See: svc monitor logs' });
}

/** By Node's error codes; anything else is a request that is not HTTP. */
const brokenRequests: Readonly<Record<string, readonly [status: string, words: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
};

/** A request that is not valid HTTP is answered on the bare connection, which is then closed. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, words] = brokenRequests[error.code ?? ''] ?? ['400 Bad Request', 'The request is not HTTP.'];
  const text = JSON.stringify({ error: words, code: 'bad-request' });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
