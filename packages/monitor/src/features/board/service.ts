// The current board or that of any past time, and its changes.
import { within } from '@svc/lib/timeout';
import type { Board } from '../../kernel/board/board.ts';
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { type Asked, momentIn } from '../../kernel/http/route.ts';
import type { Since } from '../../kernel/log/event-filter.ts';
import type { api } from '../api.ts';
import { handedToPerson, type Person } from '../attention/service.ts';
import type { BoardView } from './api.ts';
import { createChangeTracker } from './board-changes.ts';
import { needsYouCount } from './board-columns.ts';
import { boardView, WEEK_MS } from './board-view.ts';

/** How long a request waits for an event that the board does not have yet. */
const TIMEOUT_MS = 1_000;

export type BoardParts = {
  state: StateAccess;
  /** The board after an event, or after the last event before a time. */
  boardAt: (moment: Since, signal: AbortSignal) => Promise<Board>;
  /** Identifies this process: positions and views of another instance are not valid here. */
  instanceId: string;
  person: Person;
  now: () => number;
};

export function createBoardViews({ state, boardAt, instanceId, person, now }: BoardParts) {
  const tracker = createChangeTracker();
  /** `needsYou` also has what other machines of the team handed over to this person. */
  const counted = (board: Board, view: BoardView, moment: number) => {
    const handed = handedToPerson(board, person).map(({ id, machine, value }) => ({
      ...value,
      key: id,
      machine,
      isForMe: true,
    }));
    const attention = [...view.attention, ...handed];
    return { ...view, needsYou: needsYouCount({ ...view, attention, now: moment }).total };
  };
  return {
    /** Live, or at any past time; a past board takes a while, unless the signal is aborted. */
    async view(query: Asked<typeof api.getBoard>['query'], signal: AbortSignal) {
      const shown = { all: query.all === '1', settledMs: query.settled ?? WEEK_MS, team: query.team === '1' };
      const moment = momentIn('at', query.at, now());
      if (moment === undefined) {
        const board = boardOf(state);
        return { instanceId, ...counted(board, boardView(board, shown), now()) };
      }
      const past = await boardAt(moment, signal);
      return counted(past, boardView(past, shown), past.at === null ? now() : Date.parse(past.at));
    },
    async changes(query: Asked<typeof api.getBoardChanges>['query']) {
      const isOurs = query.instanceId === undefined || query.instanceId === instanceId;
      boardOf(state);
      await reached(state, query.atLeast);
      const after = isOurs ? query.after : undefined;
      return { instanceId, ...tracker.changes(boardOf(state), after, query.settled ?? WEEK_MS) };
    },
  };
}

/** Bounded, because the event may belong to another log. */
async function reached(state: StateAccess, seq: number | undefined): Promise<void> {
  if (seq === undefined || seq <= state.board().seq) return;
  // A stopped follower rejects; the response is then what the board has.
  await within(
    state.reached(seq).catch(() => undefined),
    TIMEOUT_MS,
    () => undefined,
  );
}
