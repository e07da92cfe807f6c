// The HTTP server. Deliveries are answered on node:http itself, because they come by the thousand; every
// other route is Fastify's. Both stand behind the same guard, limits and headers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyPluginCallback } from 'fastify';
import type { Logger } from 'pino';
import { Failure } from '../errors.ts';
import { refusalOf } from './guard.ts';
import { refuseUnknownQuery } from './refuse-unknown-query.ts';

const MAX_JSON_BODY = 1024 * 1024;
const SWEEP_MS = 20;
const CLOSE_WITHIN_MS = 5_000;

/** Answers a request itself, or returns false and leaves it to the routes. */
export type DirectHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Called once for each answer, with the route's own name for its path. */
export type OnAnswer = (route: string, method: string, status: number, milliseconds: number) => void;

export type HttpServer = {
  /** Resolves to the port that it listens on. */
  listen: (port: number) => Promise<number>;
  /** Stops accepting, lets requests under way end, cuts streams. */
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

/** For programs: what only a browser would heed is left out. */
const jsonHeaders: readonly string[] = [
  'Content-Type',
  'application/json',
  'X-Content-Type-Options',
  'nosniff',
  'Cache-Control',
  'no-store',
];

export function createHttpServer(options: {
  logger: Logger;
  direct: DirectHandler;
  routes: readonly FastifyPluginCallback[];
  onAnswer: OnAnswer;
}): HttpServer {
  const app = Fastify({
    serverFactory: (handler) => createGuardedServer(options.direct, handler),
    bodyLimit: MAX_JSON_BODY,
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: 'idle',
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
  refuseUnknownQuery(app);
  for (const route of options.routes) app.register(route);
  return {
    async listen(port) {
      await app.listen({ host: '127.0.0.1', port });
      const address = app.server.address();
      return typeof address === 'object' && address !== null ? address.port : port;
    },
    close: () => closeGently(app),
  };
}

/** Requests under way end by themselves; connections that are kept for more are closed as they fall idle. */
async function closeGently(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
  const enough = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(enough);
  }
}

function createGuardedServer(
  direct: DirectHandler,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
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
      if (refusal) return answerJson(response, 403, refusal);
      if (direct(request, response)) return;
      for (const [name, value] of securityHeaders) response.setHeader(name, value);
      handler(request, response);
    },
  );
  server.maxRequestsPerSocket = 0;
  return server;
}

/** An answer outside of Fastify. All headers go in one call, which is what a burst of deliveries needs. */
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
    reply
      .code(404)
      .send({ error: `There is no ${request.method} ${request.url.split('?')[0]}.`, code: 'no-such-route' }),
  );
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, _request, reply) => {
    if (error instanceof Failure) {
      return reply
        .code(error.status)
        .send({ error: error.message, code: error.code, ...(error.remedy && { remedy: error.remedy }) });
    }
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.code(status).send({ error: error.message, code: 'bad-request' });
    logger.error({ err: error }, 'a route failed');
    return reply
      .code(500)
      .send({ error: 'The daemon failed to answer.', code: 'internal', remedy: 'See: svc monitor logs' });
  });
}
