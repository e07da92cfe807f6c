// The page's copy of the board. Events only shorten the wait: changes are always pulled from the daemon, starting at
// the last seq that the page has, so a lost connection costs time but never a change.
import type { Answer, Board } from '@svc/client';
import { type BoardKind, boardKinds } from 'svc-monitor/src/features/board/kinds.ts';

type Entity<Kind extends BoardKind> = Board[Kind][number];
export type BoardChanges = Answer<'GET', '/api/board/changes'>;
/** What this page has, and the newest event that it received. */
export type PullFrom = { after: number; instanceId: string | null; atLeast: number | null };

export type LiveBoard = {
  /** Null until the first response. */
  seq: number | null;
  at: string | null;
  /** The daemon instance that the seq belongs to. */
  instanceId: string | null;
  /** Keys of the entities that the last pull changed, to highlight them. */
  changed: ReadonlySet<string>;
  /** Machines of the team that have published more than is shown. */
  leftOut: BoardChanges['leftOut'];
} & { [Kind in BoardKind]: ReadonlyMap<string, Entity<Kind> & OnMachine> };

/** On the team's board: the machine that published it; absent for this machine. */
type OnMachine = { machine?: string };

export const emptyLiveBoard: LiveBoard = {
  seq: null,
  at: null,
  instanceId: null,
  changed: new Set(),
  leftOut: [],
  workers: new Map(),
  pullRequests: new Map(),
  deployments: new Map(),
  tickets: new Map(),
  runs: new Map(),
  attention: new Map(),
  feeds: new Map(),
  sessions: new Map(),
  members: new Map(),
  team: new Map(),
};

/** Applies the changes. Collections in which nothing changed stay the same objects. */
export function applyChanges(board: LiveBoard, changes: BoardChanges): LiveBoard {
  const changed = new Set<string>();
  const next: LiveBoard = {
    ...board,
    seq: changes.seq,
    at: changes.at,
    instanceId: changes.instanceId,
    changed,
    leftOut: changes.leftOut,
  };
  for (const kind of boardKinds) {
    const gone = changes.gone[kind];
    const news: readonly { key: string }[] = changes[kind];
    if (!changes.full && news.length === 0 && gone.length === 0) continue;
    const before: ReadonlyMap<string, { key: string }> = board[kind];
    const map = new Map(changes.full ? [] : before);
    for (const entity of news) {
      map.set(entity.key, entity);
      if (!changes.full) changed.add(`${kind}:${entity.key}`);
    }
    for (const key of gone) map.delete(key);
    Object.assign(next, { [kind]: map });
  }
  return next;
}

const noneGone: BoardChanges['gone'] = {
  workers: [],
  pullRequests: [],
  deployments: [],
  tickets: [],
  runs: [],
  attention: [],
  feeds: [],
  sessions: [],
  members: [],
  team: [],
};

export function boardOf(view: Board): LiveBoard {
  return applyChanges(emptyLiveBoard, { ...view, instanceId: '', full: true, gone: noneGone });
}

/** Pause between two pulls, so a burst of events causes one pull. */
const PULL_EVERY_MS = 50;
/** Pull at this interval even without an event, in case one was lost. */
const PULL_ANYWAY_MS = 15_000;

export type BoardStore = {
  get: () => LiveBoard;
  /** Why the last pull failed; null if it succeeded. */
  failing: () => Error | null;
  subscribe: (listener: () => void) => () => void;
  /** An event arrived: pull what it changed. */
  wake: (seq?: number) => void;
  close: () => void;
};

export function createBoardStore(pull: (from: PullFrom) => Promise<BoardChanges>): BoardStore {
  const listeners = new Set<() => void>();
  let board = emptyLiveBoard;
  let failing: Error | null = null;
  let pulling = false;
  let again = false;
  const closed = new AbortController();
  let newestEvent: number | null = null;

  const notify = (): void => {
    for (const listener of listeners) listener();
  };

  async function run(): Promise<void> {
    if (pulling) {
      again = true;
      return;
    }
    pulling = true;
    try {
      do {
        again = false;
        const changes = await pull({
          after: board.seq ?? 0,
          instanceId: board.instanceId,
          atLeast: newestEvent,
        });
        if (closed.signal.aborted) return;
        // A restarted daemon may have a different log: do not wait for an event that it may not have.
        if (board.instanceId !== null && changes.instanceId !== board.instanceId) newestEvent = changes.seq;
        if (changes.full || changes.seq !== board.seq) {
          board = applyChanges(board, changes);
          notify();
        }
        if (failing !== null) {
          failing = null;
          notify();
        }
        if (again) await new Promise((resolve) => setTimeout(resolve, PULL_EVERY_MS));
      } while (again && !closed.signal.aborted);
    } catch (error) {
      // Shown in the trust bar; the next event or timer tick retries.
      failing = error instanceof Error ? error : new Error(String(error));
      notify();
    } finally {
      pulling = false;
    }
  }

  const timer = setInterval(() => void run(), PULL_ANYWAY_MS);
  void run();
  return {
    get: () => board,
    failing: () => failing,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    wake(seq) {
      if (seq !== undefined) newestEvent = seq;
      void run();
    },
    close() {
      closed.abort();
      clearInterval(timer);
    },
  };
}
