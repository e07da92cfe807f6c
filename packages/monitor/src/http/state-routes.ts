// GET /api/board: the state of now, or with `at` that of any past moment. GET /api/board/changes: what of it changed
// since a line, for whoever follows it.

import {
  type ApiAnswer,
  api,
  type Board,
  boardView,
  createChangeTracker,
  durationMs,
  parseSince,
  type Since,
  WEEK_MS,
} from '@svc/core';
import { within } from '@svc/lib/timeout';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { fieldsOf, textOf } from './request-fields.ts';
import { boardOf, type StateAccess } from './state-access.ts';

/** How long an answer waits for a line that the board does not have yet. */
const PATIENCE_MS = 1_000;

export function stateRoutes(options: {
  state: StateAccess;
  /** The board behind a line, or behind the last line of before a moment. */
  boardAt: (moment: Since, signal: AbortSignal) => Promise<Board>;
  /** Names this process: what another one said of its lines and views does not count. */
  life: string;
  now: () => number;
}): FastifyPluginCallback {
  const { state, boardAt, life, now } = options;
  const tracker = createChangeTracker();
  return (app, _options, done) => {
    app.get('/api/board', async (request, reply): Promise<ApiAnswer<typeof api.getBoard>> => {
      const { at, all, settled } = fieldsOf(request.query, api.getBoard.query);
      if (all !== undefined && all !== '1' && all !== '0')
        throw new Failure('usage', 'all: expected 1 or 0.');
      if (all === '1' && settled !== undefined)
        throw new Failure('usage', 'all and settled: one of them leaves out what the other asks for.');
      const shown = { all: all === '1', settledMs: settledOf(settled) };
      const moment = momentOf(at, now());
      if (moment === undefined) return { life, ...boardView(boardOf(state), shown) };
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      return boardView(await boardAt(moment, gone.signal), shown);
    });
    app.get('/api/board/changes', async (request): Promise<ApiAnswer<typeof api.getBoardChanges>> => {
      const given = fieldsOf(request.query, api.getBoardChanges.query);
      const settledMs = settledOf(given.settled);
      const isOurs = given.life === undefined || given.life === life;
      const after = isOurs ? seqOf('after', given.after) : undefined;
      boardOf(state);
      await reached(state, seqOf('atLeast', given.atLeast));
      return { life, ...tracker.changes(boardOf(state), after, settledMs) };
    });
    done();
  };
}

/** Not for ever: the line may be one of another log. */
async function reached(state: StateAccess, seq: number | undefined): Promise<void> {
  if (seq === undefined || seq <= state.board().seq) return;
  // A follower that stops rejects; the answer is then what the board has.
  await within(
    state.reached(seq).catch(() => undefined),
    PATIENCE_MS,
    () => undefined,
  );
}

function settledOf(value: unknown): number {
  const text = textOf('settled', value, api.getBoard.query.shape.settled);
  if (text === undefined) return WEEK_MS;
  const milliseconds = durationMs(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new Failure('usage', 'settled: expected a duration, like 24h.');
}

function seqOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw new Failure('usage', `${name}: expected the seq of a line.`);
}

function momentOf(value: unknown, now: number): Since | undefined {
  const text = textOf('at', value, api.getBoard.query.shape.at);
  if (text === undefined) return undefined;
  const moment = parseSince(text, now);
  if (moment !== undefined) return moment;
  throw new Failure('usage', 'at: expected a seq, an ISO time, or how long ago, like 2h.');
}
