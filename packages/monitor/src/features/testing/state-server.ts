// The routes that use the state, on a real server, over a board that a test made. Appended events are
// folded into it as in the daemon.

import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { Board } from '../../kernel/board/board.ts';
import { createHttpServer } from '../../kernel/http/server.ts';
import { allowEveryone } from '../../kernel/http/testing/allow-everyone.ts';
import type { Since } from '../../kernel/log/event-filter.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { attentionRoutes } from '../attention/routes.ts';
import { boardRoutes } from '../board/routes.ts';
import { foldLine } from '../board.ts';
import { deployRoutes } from '../deploy/routes.ts';
import { causeStands } from '../tickets/needs.ts';
import { ticketNamed } from '../tickets/subject.ts';
import { whyRoutes } from '../why/routes.ts';
import { why } from '../why/why.ts';

export type StateServerOptions = {
  board: Board;
  now: string;
  past?: Board;
  ready?: () => boolean;
  /** What `GET /api/health` returns. */
  identity?: (port: number) => object;
};

export async function startStateServer(options: StateServerOptions) {
  const { board } = options;
  const appended: EventDraft[] = [];
  const moments: Since[] = [];
  const state = {
    board: () => board,
    reached: async () => undefined,
    progress: () => ({ ready: options.ready?.() ?? true, seq: 12, logSeq: 99 }),
  };
  const append = async (draft: EventDraft): Promise<{ seq: number }> => {
    appended.push(draft);
    const seq = board.seq + 1;
    foldLine(board, { ...draft, seq, ts: options.now });
    return { seq };
  };
  const boardAt = async (moment: Since): Promise<Board> => {
    moments.push(moment);
    return options.past ?? board;
  };
  const now = (): number => Date.parse(options.now);
  let port = 0;
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: allowEveryone,
    show(request, response) {
      if (request.url !== '/api/health') return false;
      response.end(JSON.stringify(options.identity?.(port) ?? {}));
      return true;
    },
    onAnswer: () => undefined,
    routes: [
      boardRoutes({ state, boardAt, instanceId: 'instance-1', person: () => undefined, now }),
      attentionRoutes({ causeStands, state, append, person: () => undefined, now }),
      whyRoutes({ state, now }),
      deployRoutes({ state, append, ticketNamed, why, onPolicyChange: () => undefined, now }),
    ],
  });
  onTestFinished(() => server.close());
  port = await server.listen(0);
  return { port, appended, moments };
}
