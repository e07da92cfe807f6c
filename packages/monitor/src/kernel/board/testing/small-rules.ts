// Rules small enough to know the right result by heart: a ticket per `scope.ticket`, which counts its lines,
// and for every line with `detail.ask` as many effects as it asks for.
import { boardRules } from '../../../features/board.ts';
import type { Effect } from '../../outbox/effect.ts';
import type { Board } from '../board.ts';
import type { BoardRules } from '../board-rules.ts';

export const smallRules = {
  ...boardRules,
  foldLine(this: void, board: Board, { seq, ts, scope, detail }): Effect[] {
    if (detail['broken'] === true) throw new Error('broken on purpose');
    board.seq = seq;
    board.at = ts;
    const ticket = scope.ticket ?? '-';
    const before = board.tickets.get(ticket);
    const lines = (before?.priority ?? 0) + 1;
    board.tickets.set(ticket, {
      ticket,
      title: `${before?.title ?? ''}${seq % 10}`.slice(-20),
      url: null,
      state: null,
      assignee: null,
      priority: lines,
      labels: [],
      phase: null,
      removed: false,
      reportedAt: null,
      via: 'live',
      lastSeq: seq,
      lastAt: ts,
    });
    // The key contains the state of the board, so a wrong board makes a wrong effect.
    const asked = typeof detail['ask'] === 'number' ? detail['ask'] : 0;
    return Array.from({ length: asked }, (_, index): Effect => {
      const key = `${seq}:move-ticket:${ticket}/${index}/${lines}`;
      return { key, seq, kind: 'move-ticket', ticket, phase: 'done' };
    });
  },
} satisfies BoardRules;
