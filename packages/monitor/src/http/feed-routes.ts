// GET /api/feeds: every feed with its state, reason and remedy. POST /api/feeds/check: the code host's list
// of what it sent, held against the log, and repaired where that is asked for.
import { durationMs } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';

const DEFAULT_SINCE = '1h';
/** The code host keeps deliveries for so long. */
const LONGEST_MS = 3 * 86_400_000;

export type CheckWish = { withinMs: number; repair: boolean };

export function feedRoutes(options: {
  report: () => object;
  compare: (wish: CheckWish) => Promise<object[]>;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/feeds', () => options.report());
    app.post('/api/feeds/check', async (request) => ({ repos: await options.compare(wishOf(request.body)) }));
    done();
  };
}

function wishOf(body: unknown): CheckWish {
  const given: { since?: unknown; repair?: unknown } = typeof body === 'object' && body !== null ? body : {};
  const unknown = Object.keys(given).find((name) => name !== 'since' && name !== 'repair');
  if (unknown !== undefined)
    throw new Failure('usage', `There is no ${unknown}; there are since and repair.`);
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
