// GET /api/feeds: every feed with its state, reason and remedy. POST /api/feeds/check: the code host's list
// of what it sent, held against the log, and repaired where that is asked for. POST /api/feeds/ping: a delivery
// of our own through every live feed.
import { durationMs } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { fieldsOf } from './request-fields.ts';

const DEFAULT_SINCE = '1h';
/** The code host keeps deliveries for so long. */
const LONGEST_MS = 3 * 86_400_000;
const DEFAULT_TIMEOUT = '10s';
const LONGEST_TIMEOUT_MS = 60_000;

export type CheckWish = { withinMs: number; repair: boolean };

export function feedRoutes(options: {
  report: () => object;
  compare: (wish: CheckWish) => Promise<object[]>;
  ping: (timeoutMs: number) => Promise<object[]>;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/feeds', () => options.report());
    app.post('/api/feeds/check', async (request) => ({ repos: await options.compare(wishOf(request.body)) }));
    app.post('/api/feeds/ping', async (request) => ({ feeds: await options.ping(timeoutOf(request.body)) }));
    done();
  };
}

function wishOf(body: unknown): CheckWish {
  const given = fieldsOf(body, ['since', 'repair']);
  const since = given.since ?? DEFAULT_SINCE;
  const withinMs = typeof since === 'string' ? durationMs(since) : undefined;
  if (withinMs === undefined || withinMs > LONGEST_MS) {
    throw new Failure('usage', 'since: expected a duration of at most 3d, like 1h.');
  }
  if (given.repair !== undefined && typeof given.repair !== 'boolean') {
    throw new Failure('usage', 'repair: expected true or false.');
  }
  return { withinMs, repair: given.repair === true };
}

function timeoutOf(body: unknown): number {
  const { timeout = DEFAULT_TIMEOUT } = fieldsOf(body, ['timeout']);
  const milliseconds = typeof timeout === 'string' ? durationMs(timeout) : undefined;
  if (milliseconds === undefined || milliseconds < 1 || milliseconds > LONGEST_TIMEOUT_MS)
    throw new Failure('usage', 'timeout: expected a duration from 1s to 60s.');
  return milliseconds;
}
