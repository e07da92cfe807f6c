// GET /api/board: the state of now, or with `at` that of any past moment.
import { type Board, boardView, parseSince, type Since } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { fieldsOf, textOf } from './request-fields.ts';
import { boardOf, type StateAccess } from './state-access.ts';

export function stateRoutes(options: {
  state: StateAccess;
  /** The board behind a line, or behind the last line of before a moment. */
  boardAt: (moment: Since, signal: AbortSignal) => Promise<Board>;
  now: () => number;
}): FastifyPluginCallback {
  const { state, boardAt, now } = options;
  return (app, _options, done) => {
    app.get('/api/board', async (request, reply) => {
      const { at, all } = fieldsOf(request.query, ['at', 'all']);
      if (all !== undefined && all !== '1' && all !== '0')
        throw new Failure('usage', 'all: expected 1 or 0.');
      const moment = momentOf(at, now());
      if (moment === undefined) return boardView(boardOf(state), { all: all === '1' });
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      return boardView(await boardAt(moment, gone.signal), { all: all === '1' });
    });
    done();
  };
}

function momentOf(value: unknown, now: number): Since | undefined {
  const text = textOf('at', value, 40);
  if (text === undefined) return undefined;
  const moment = parseSince(text, now);
  if (moment !== undefined) return moment;
  throw new Failure('usage', 'at: expected a seq, an ISO time, or how long ago, like 2h.');
}
