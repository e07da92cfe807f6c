// What all screens share: one event stream, the board that follows it, and a clock.
import { queryOptions, useQuery } from '@tanstack/react-query';
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
import type { TeamStatus } from 'svc-monitor/src/features/team/api.ts';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { client } from '../api/client.ts';
import { type BoardStore, boardOf, createBoardStore, emptyLiveBoard, type LiveBoard } from './board-store.ts';
import { type LinkState, openLineStream } from './line-stream.ts';
import { type ItemOfPerson, itemsOf, teamBoard } from './team-board.ts';

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

const health = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => client.get('/api/health', { signal }),
  refetchInterval: 5_000,
});

export function useHealth() {
  return useQuery(health);
}

// Every card uses the team and the view, so these hooks follow only their own answer and not the whole board: an event
// about another card must not render it again.

function useIsReadOnly(): boolean {
  return useQuery({ ...health, select: ({ access }) => access.readOnly }).data === true;
}

function useIsInTeam(): boolean {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, () => store.get().members.size > 0);
}

/** The team that this machine is in; null if it is in none. While a past time is viewed, nobody is known to be heard. */
export function useTeam(): TeamStatus | null {
  const isInTeam = useIsInTeam();
  const { data } = useQuery({
    queryKey: ['team'],
    queryFn: ({ signal }) => client.get('/api/team', { signal }),
    enabled: isInTeam,
    refetchInterval: 5_000,
  });
  return isInTeam ? (data?.team ?? null) : null;
}

/** What this person has to look at, of the given board. */
export function useItems(board: LiveBoard): ReadonlyMap<string, ItemOfPerson> {
  const person = useTeam()?.person;
  return useMemo(() => (person === undefined ? board.attention : itemsOf(board, person)), [board, person]);
}

/** The items of the board that is shown: of a team all of them. */
export function useShownItems(board: LiveBoard): ReadonlyMap<string, ItemOfPerson> {
  const items = useItems(board);
  return useView() === 'team' ? board.attention : items;
}

/** Whose board is shown, from the URL (`?view=`). A daemon that only shows a team shows it first. */
export function useView(): 'mine' | 'team' {
  const { view } = useSearch({ strict: false });
  const isInTeam = useIsInTeam();
  const isReadOnly = useIsReadOnly();
  const chosen = view ?? (isReadOnly ? 'team' : 'mine');
  return isInTeam && chosen === 'team' ? 'team' : 'mine';
}

/** Calls `listener` with every event that becomes durable while the screen is open. */
export function useLines(listener: (lines: EventLine[]) => void): void {
  const { onLines } = useLive();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onLines((lines) => latest.current(lines)), [onLines]);
}

/** Why nothing can be changed from this page now; null if it can. */
export function useDisabledBecause(): string | null {
  const { at } = useSearch({ strict: false });
  const isReadOnly = useIsReadOnly();
  if (at !== undefined) return 'Not available while viewing history. Go back to live.';
  return isReadOnly ? 'This page only shows the board.' : null;
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

const WHOLE_AGAIN_MS = 300_000;

/** The live board with the workers and runs that settled long ago; null until they have loaded. */
export function useWholeBoard(isAsked = true): {
  board: LiveBoard | null;
  /** Why they cannot be loaded. */
  failure: Error | null;
  again: () => void;
} {
  const live = useLiveBoard();
  const { data, error, refetch } = useQuery({
    queryKey: ['board-all'],
    queryFn: ({ signal }) => client.get('/api/board', { query: { all: '1' }, signal }),
    enabled: isAsked,
    staleTime: 60_000,
    refetchInterval: WHOLE_AGAIN_MS,
  });
  const all = useMemo(() => data && boardOf(data), [data]);
  const board = useMemo(() => {
    if (!isAsked || all === undefined) return null;
    const workers = new Map([...all.workers, ...live.workers]);
    return { ...live, workers, runs: new Map([...all.runs, ...live.runs]) };
  }, [isAsked, all, live]);
  return { board, failure: board === null ? error : null, again: () => void refetch() };
}

/** The board at the time in the URL (`?at=`), or the live board; of this machine or of the team. */
export function useBoard(): ShownBoard {
  const shown = useOwnBoard();
  const { machine: name } = useSearch({ strict: false });
  const team = useTeam();
  if (useView() === 'mine') return shown;
  const idOf = (is: (member: TeamStatus['members'][number]) => boolean): string =>
    team?.members.find(is)?.id ?? '';
  const machine = name === undefined ? '' : idOf((one) => one.machine === name || one.id === name) || name;
  return {
    ...shown,
    board: teamBoard(
      shown.board,
      machine,
      idOf(({ self }) => self),
    ),
  };
}

/** The board of this machine, whatever the URL says about the team. */
export function useOwnBoard(): ShownBoard {
  const { at } = useSearch({ strict: false });
  const live = useLiveBoard();
  const past = useQuery({
    queryKey: ['board', at],
    queryFn: ({ signal }) => client.get('/api/board', { query: { at, settled: SETTLED, team: '1' }, signal }),
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

/** The time of the shown board, for what the end of a snooze or of a day moves: every five seconds is often enough. */
export function useBoardTime(): number {
  const { board, moment } = useOwnBoard();
  const tick = Math.floor(useNow() / 5_000) * 5_000;
  return moment === null || board.at === null ? tick : Date.parse(board.at);
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
