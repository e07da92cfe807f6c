// The board in this page. Lines only shorten the wait: what changed is always pulled from the daemon by the
// last seq that this page has, so that a lost connection costs time and never a change.
import type { Answer, Board } from '@svc/client';
import { type BoardKind, boardKinds } from '@svc/core/browser';

type Entity<Kind extends BoardKind> = Board[Kind][number];
export type BoardChanges = Answer<'GET', '/api/board/changes'>;
/** What this page has, and the newest line that it heard of. */
export type PullFrom = { after: number; life: string | null; atLeast: number | null };

export type LiveBoard = {
  /** Null until the first answer. */
  seq: number | null;
  at: string | null;
  /** The daemon's life that the seq is of. */
  life: string | null;
  /** What the last pull changed, by key, for marking it. */
  changed: ReadonlySet<string>;
} & { [Kind in BoardKind]: ReadonlyMap<string, Entity<Kind>> };

export const emptyLiveBoard: LiveBoard = {
  seq: null,
  at: null,
  life: null,
  changed: new Set(),
  workers: new Map(),
  pullRequests: new Map(),
  deployments: new Map(),
  tickets: new Map(),
  runs: new Map(),
  attention: new Map(),
  feeds: new Map(),
};

/** The board with the changes applied. Collections in which nothing changed stay the same objects. */
export function applyChanges(board: LiveBoard, changes: BoardChanges): LiveBoard {
  const changed = new Set<string>();
  const next: LiveBoard = { ...board, seq: changes.seq, at: changes.at, life: changes.life, changed };
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
};

export function boardOf(view: Board): LiveBoard {
  return applyChanges(emptyLiveBoard, { ...view, life: '', full: true, gone: noneGone });
}

/** Between two pulls, so that a burst of lines is one pull. */
const PULL_EVERY_MS = 50;
/** A pull without a line to wake it: what a line would have told is found anyway. */
const PULL_ANYWAY_MS = 15_000;

export type BoardStore = {
  get: () => LiveBoard;
  /** Why the last pull failed; null when it did not. */
  failing: () => Error | null;
  subscribe: (listener: () => void) => () => void;
  /** A line came: what it changed is pulled at once. */
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
  let heard: number | null = null;

  const tell = (): void => {
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
        const changes = await pull({ after: board.seq ?? 0, life: board.life, atLeast: heard });
        if (closed.signal.aborted) return;
        // Another life of the daemon may have another log: the line that was heard of is not waited for.
        if (board.life !== null && changes.life !== board.life) heard = changes.seq;
        if (changes.full || changes.seq !== board.seq) {
          board = applyChanges(board, changes);
          tell();
        }
        if (failing !== null) {
          failing = null;
          tell();
        }
        if (again) await new Promise((resolve) => setTimeout(resolve, PULL_EVERY_MS));
      } while (again && !closed.signal.aborted);
    } catch (error) {
      // Shown in the trust bar; the next line or the timer tries again.
      failing = error instanceof Error ? error : new Error(String(error));
      tell();
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
      if (seq !== undefined) heard = seq;
      void run();
    },
    close() {
      closed.abort();
      clearInterval(timer);
    },
  };
}
