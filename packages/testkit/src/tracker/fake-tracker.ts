// A fake of the issue tracker's cloud on loopback: `POST /graphql`, executed against the schema next to this file. It
// counts every call and fails on command.
//
//   const tracker = await startFakeTracker();
//   tracker.addToken('lin_api_test');
//   const team = tracker.cloud.addTeam({ key: 'ABC' });
//   … SVC_TRACKER_API_URL = tracker.url
//   tracker.calls()  // ['teams']
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { createTrackerCloud, type TrackerCloud, type UserRow } from './cloud.ts';
import type { Operation } from './execute.ts';
import { createFaultPlan, type FaultPlan, Refusal, refusalBody, type TrackerFault } from './faults.ts';
import { createOperations } from './operations.ts';

// The tracker's request quota: every answer counts, and has it in its headers.

type Quota = { limit: number; remaining: number; resetAt: number };

export function quotaHeaders({ limit, remaining, resetAt }: Quota): Record<string, string> {
  return {
    'X-RateLimit-Requests-Limit': String(limit),
    'X-RateLimit-Requests-Remaining': String(remaining),
    'X-RateLimit-Requests-Reset': String(resetAt),
  };
}

// Authentication: a personal key is in the header as it is, an OAuth token after `Bearer`.

type KnownToken = { token: string; kind: 'key' | 'oauth'; user: UserRow };

function callerOf(header: string | undefined, known: readonly KnownToken[]): UserRow {
  const isBearer = header?.startsWith('Bearer ') ?? false;
  const token = isBearer ? header?.slice('Bearer '.length) : header;
  const found = known.find((one) => one.token === token);
  if (!found) throw new Refusal('AUTHENTICATION_ERROR', 'Authentication required, not authenticated');
  if (isBearer !== (found.kind === 'oauth')) {
    throw new Refusal('AUTHENTICATION_ERROR', 'An API key is sent without Bearer, an OAuth token with it');
  }
  return found.user;
}

// How each fault looks on the wire.

/** Faults that answer instead of the tracker. Returns whether the request is answered. */
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

/** Closes the connection without an answer, or after half of it. */
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

const LIMIT_PER_HOUR = 5_000;
const HOUR_MS = 3_600_000;

export type FakeTracker = Pick<FaultPlan, 'failNext' | 'restore'> & {
  /** The address of the API. */
  url: string;
  cloud: TrackerCloud;
  /** Adds an accepted token. The key of a person who is not an admin may not change webhooks. */
  addToken: (token: string, as?: { kind?: 'key' | 'oauth'; admin?: boolean }) => void;
  /** The requested root fields so far, in order: one entry per call. */
  calls: () => string[];
  /** Headers and variables of every call so far. */
  requests: () => readonly TrackerRequest[];
  forgetCalls: () => void;
  setQuota: (quota: Partial<Quota>) => void;
  /** The maximum size of a page, whatever the request. */
  limitPages: (size: number) => void;
  close: () => Promise<void>;
};

export type TrackerRequest = {
  fields: string[];
  variables: Record<string, unknown>;
  headers: IncomingMessage['headers'];
};

export async function startFakeTracker({
  now = Date.now,
}: {
  now?: () => number;
} = {}): Promise<FakeTracker> {
  // Loaded here and not above: most tests that use this package do not need GraphQL.
  const { executeOperation, rootFieldsOf } = await import('./execute.ts');
  const cloud = createTrackerCloud(now);
  const faults = createFaultPlan();
  const tokens: KnownToken[] = [];
  const requests: TrackerRequest[] = [];
  const quota: Quota = { limit: LIMIT_PER_HOUR, remaining: LIMIT_PER_HOUR, resetAt: now() + HOUR_MS };
  let pageLimit = Number.POSITIVE_INFINITY;

  const answerOf = async (request: IncomingMessage, operation: Operation) => {
    const viewer = callerOf(request.headers.authorization, tokens);
    if (quota.remaining <= 0) throw new Refusal('RATELIMITED', 'Rate limit exceeded');
    quota.remaining -= 1;
    const { status, result } = await executeOperation(operation, createOperations(cloud, viewer, pageLimit));
    return { status, body: JSON.stringify(result) };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST' || request.url !== '/graphql') return send(response, 404, 'Not found');
    const operation = JSON.parse(await text(request)) as Operation;
    const fields = rootFieldsOf(operation.query);
    requests.push({ fields, variables: operation.variables ?? {}, headers: request.headers });
    const fault = faults.take(fields);
    if (fault && (await preempt(fault, response))) return;
    const { status, body } = await answerOf(request, operation).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      // Without quota the API answers 400, not 429.
      const code = error.extensions['code'] === 'RATELIMITED' ? 400 : Number(error.extensions['statusCode']);
      return { status: code, body: refusalBody(error) };
    });
    if (fault?.kind === 'cut') return cut(response, fault.when === 'within' ? body : undefined);
    send(response, status, body, quotaHeaders(quota));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const isNoQuery = error instanceof SyntaxError || (error as Error).name === 'GraphQLError';
      const code = isNoQuery ? 'INPUT_ERROR' : 'INTERNAL_SERVER_ERROR';
      send(response, isNoQuery ? 400 : 500, refusalBody(new Refusal(code, String(error))));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    cloud,
    failNext: faults.failNext,
    restore: faults.restore,
    addToken(token, { kind = 'key', admin = true } = {}) {
      tokens.push({ token, kind, user: cloud.addUser({ name: `Owner of ${kind}`, admin }) });
    },
    calls: () => requests.map(({ fields }) => fields.join('+')),
    requests: () => requests,
    forgetCalls: () => void requests.splice(0),
    setQuota: (change) => void Object.assign(quota, change),
    limitPages: (size) => void (pageLimit = size),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A fake tracker that accepts one token, and is stopped when the calling test ends. */
export async function testTracker(token: string): Promise<FakeTracker> {
  const tracker = await startFakeTracker();
  onTestFinished(() => tracker.close());
  tracker.addToken(token);
  return tracker;
}
