// What all screens share: one event stream, the board that follows it, and a clock.

import type { EventLine } from '@svc/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { client } from '../api/client.ts';
import { type BoardStore, boardOf, createBoardStore, emptyLiveBoard, type LiveBoard } from './board-store.ts';
import { type LinkState, openLineStream } from './line-stream.ts';

/** How far back settled work is loaded: as far as the board screen shows it. */
const SETTLED = '36h';

type Live = {
  store: BoardStore;
  link: () => LinkState;
  onLink: (listener: () => void) => () => void;
  onLines: (listener: (lines: EventLine[]) => void) => () => void;
};

const LiveContext = createContext<Live | null>(null);

export function startLive(): Live {
  const lineListeners = new Set<(lines: EventLine[]) => void>();
  const linkListeners = new Set<() => void>();
  const store = createBoardStore(({ after, instanceId, atLeast }) =>
    client.get('/api/board/changes', {
      query: { after, instanceId: instanceId ?? undefined, atLeast: atLeast ?? undefined, settled: SETTLED },
    }),
  );
  const stream = openLineStream({
    after: 'now',
    onLines(lines) {
      store.wake(lines.at(-1)?.seq);
      for (const listener of lineListeners) listener(lines);
    },
    onState(state) {
      if (state.state === 'live') store.wake();
      for (const listener of linkListeners) listener();
    },
  });
  return {
    store,
    link: stream.state,
    onLink(listener) {
      linkListeners.add(listener);
      return () => linkListeners.delete(listener);
    },
    onLines(listener) {
      lineListeners.add(listener);
      return () => lineListeners.delete(listener);
    },
  };
}

export function LiveProvider({ live, children }: { live: Live; children: ReactNode }) {
  return <LiveContext value={live}>{children}</LiveContext>;
}

function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error('no LiveProvider above');
  return live;
}

/** The live board. Screens that can show a past time use `useBoard`. */
export function useLiveBoard(): LiveBoard {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.get);
}

export function useLink(): LinkState {
  const { link, onLink } = useLive();
  return useSyncExternalStore(onLink, link);
}

/** Why the last refresh of the board failed; null if it succeeded. */
export function useBoardFailure(): Error | null {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.failing);
}

/** Calls `listener` with every event that becomes durable while the screen is open. */
export function useLines(listener: (lines: EventLine[]) => void): void {
  const { onLines } = useLive();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onLines((lines) => latest.current(lines)), [onLines]);
}

export type ShownBoard = {
  board: LiveBoard;
  /** The past time being viewed, as written in the URL; null is live. */
  moment: string | null;
  loading: boolean;
  /** A different time was requested; the previous one is shown until it has loaded. */
  settling: boolean;
  failure: Error | null;
};

/** The board at the time in the URL (`?at=`), or the live board. */
export function useBoard(): ShownBoard {
  const { at } = useSearch({ strict: false });
  const live = useLiveBoard();
  const past = useQuery({
    queryKey: ['board', at],
    queryFn: ({ signal }) => client.get('/api/board', { query: { at, settled: SETTLED }, signal }),
    enabled: at !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (previous) => previous,
  });
  const pastBoard = useMemo(() => past.data && boardOf(past.data), [past.data]);
  if (at === undefined)
    return { board: live, moment: null, loading: live.seq === null, settling: false, failure: null };
  // Empty until it has loaded: showing the live board as the past would be wrong.
  const board = pastBoard ?? emptyLiveBoard;
  const { isPending: loading, isPlaceholderData: settling, error: failure } = past;
  return { board, moment: at, loading, settling, failure };
}

const clockListeners = new Set<() => void>();
let clock = Date.now();
setInterval(() => {
  clock = Date.now();
  for (const listener of clockListeners) listener();
}, 1_000);

function onTick(listener: () => void): () => void {
  clockListeners.add(listener);
  return () => clockListeners.delete(listener);
}

const MomentContext = createContext<number | null>(null);

/** Provides the past time being viewed to the components below; null is live. */
export function MomentProvider({ time, children }: { time: number | null; children: ReactNode }) {
  return <MomentContext value={time}>{children}</MomentContext>;
}

/** The time being viewed: the current time, updated each second, or the past time. */
export function useNow(): number {
  const moment = useContext(MomentContext);
  const now = useSyncExternalStore(onTick, () => clock);
  return moment ?? now;
}

/** True for two seconds after the entity changed while it was on screen. `useChanged('workers', key)`. */
export function useChanged(collection: string, key: string): boolean {
  const { store } = useLive();
  const isChanged = useSyncExternalStore(store.subscribe, () =>
    store.get().changed.has(`${collection}:${key}`),
  );
  const [marked, setMarked] = useState(false);
  useEffect(() => {
    if (!isChanged) return undefined;
    setMarked(true);
    const timer = setTimeout(() => setMarked(false), 2_000);
    return () => clearTimeout(timer);
  }, [isChanged]);
  return marked;
}
