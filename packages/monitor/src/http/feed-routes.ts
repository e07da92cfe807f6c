// GET /api/feeds: every feed with its state, reason and remedy. POST /api/feeds/check: the code host's list
// of what it sent, held against the log, and repaired where that is asked for. POST /api/feeds/ping: a delivery
// of our own through every live feed.
import { type ApiAnswer, api, durationMs } from '@svc/core';
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
  report: () => ApiAnswer<typeof api.getFeeds>;
  compare: (wish: CheckWish) => Promise<ApiAnswer<typeof api.checkFeeds>['repos']>;
  ping: (timeoutMs: number) => Promise<ApiAnswer<typeof api.pingFeeds>['feeds']>;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/feeds', () => options.report());
    app.post('/api/feeds/check', async (request) => ({ repos: await options.compare(wishOf(request.body)) }));
    app.post('/api/feeds/ping', async (request) => ({ feeds: await options.ping(timeoutOf(request.body)) }));
    done();
  };
}

function wishOf(body: unknown): CheckWish {
  const given = fieldsOf(body, api.checkFeeds.body);
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
  const { timeout = DEFAULT_TIMEOUT } = fieldsOf(body, api.pingFeeds.body);
  const milliseconds = typeof timeout === 'string' ? durationMs(timeout) : undefined;
  if (milliseconds === undefined || milliseconds < 1 || milliseconds > LONGEST_TIMEOUT_MS)
    throw new Failure('usage', 'timeout: expected a duration from 1s to 60s.');
  return milliseconds;
}
