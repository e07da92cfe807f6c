// What every screen shares: one stream of lines, the board that follows it, and a clock.

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

/** Settled work is loaded as far back as Home shows it. */
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
  const store = createBoardStore(({ after, life, atLeast }) =>
    client.get('/api/board/changes', {
      query: { after, life: life ?? undefined, atLeast: atLeast ?? undefined, settled: SETTLED },
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

/** The board as it is now. Screens that show a chosen moment use `useBoard`. */
export function useLiveBoard(): LiveBoard {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.get);
}

export function useLink(): LinkState {
  const { link, onLink } = useLive();
  return useSyncExternalStore(onLink, link);
}

/** Why the board on this page could not be brought up to date; null when it was. */
export function useBoardFailure(): Error | null {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.failing);
}

/** Calls back with every line that becomes durable while the screen is open. */
export function useLines(listener: (lines: EventLine[]) => void): void {
  const { onLines } = useLive();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onLines((lines) => latest.current(lines)), [onLines]);
}

export type ShownBoard = {
  board: LiveBoard;
  /** The moment that is looked at, as the address has it; null is now. */
  moment: string | null;
  loading: boolean;
  /** Another moment was asked for, and the one before is shown until it is there. */
  settling: boolean;
  failure: Error | null;
};

/** The board of the moment in the address (`?at=`), or of now. */
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
  // Nothing until it is there: the board of now is not the past.
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

/** Gives what is below it the time of the past moment that is looked at; null is now. */
export function MomentProvider({ time, children }: { time: number | null; children: ReactNode }) {
  return <MomentContext value={time}>{children}</MomentContext>;
}

/** The time of the moment that is looked at: now, once a second, or the past moment's own. */
export function useNow(): number {
  const moment = useContext(MomentContext);
  const now = useSyncExternalStore(onTick, () => clock);
  return moment ?? now;
}

/** True for a while after the entity changed before our eyes. `useChanged('workers', key)`. */
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
