// The events that the screen shows: the newest page of history, then all new ones, without a gap between the two.
// Pausing closes the stream and remembers the last event; resuming starts after it.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { client } from '../../api/client.ts';
import { openLineStream } from '../../live/line-stream.ts';
import { conditionsOf, type EventFilters } from './wait-for-command.ts';

const PAGE = 200;
/** How many events the page keeps; older ones are loaded again when scrolled to. */
const MOST = 5_000;

export type Tail = {
  /** Newest first. */
  lines: EventLine[];
  /** Where older events start; null if there are none. */
  next: number | null;
  loading: boolean;
  failure: Error | null;
  loadOlder: () => Promise<void>;
};

const nothing = {
  lines: [] as EventLine[],
  next: null as number | null,
  loading: true,
  failure: null as Error | null,
};

export function useTail(filters: EventFilters, paused: boolean): Tail {
  const [tail, setTail] = useState(nothing);
  const last = useRef<number | null>(null);
  const loadingOlder = useRef(false);
  const { event, ticket, repo, pr, filter } = filters;
  const asked = useMemo(
    () => conditionsOf({ event, ticket, repo, pr, filter }),
    [event, ticket, repo, pr, filter],
  );

  // Start over when the filters change.
  useEffect(() => {
    const gone = new AbortController();
    last.current = null;
    setTail(nothing);
    const load = async (): Promise<void> => {
      try {
        const query = { ...asked, limit: PAGE };
        const page = await client.get('/api/events', { query, signal: gone.signal });
        last.current = page.indexedTo;
        setTail({ lines: page.events, next: page.next, loading: false, failure: null });
      } catch (error) {
        if (!gone.signal.aborted) setTail({ ...nothing, loading: false, failure: asError(error) });
      }
    };
    void load();
    return () => gone.abort();
  }, [asked]);

  const ready = !tail.loading && tail.failure === null;
  useEffect(() => {
    if (!ready || paused || last.current === null) return undefined;
    const stream = openLineStream({
      query: asked,
      after: last.current,
      onState: () => undefined,
      onLines(lines) {
        last.current = lines.at(-1)?.seq ?? last.current;
        setTail((before) => withNewer(before, lines));
      },
      onRefused: (failure) => setTail((before) => ({ ...before, failure })),
    });
    return stream.close;
  }, [asked, paused, ready]);

  const next = tail.next;
  const loadOlder = useCallback(async () => {
    if (next === null || loadingOlder.current) return;
    loadingOlder.current = true;
    try {
      const query = { ...asked, limit: PAGE, until: String(next) };
      const page = await client.get('/api/events', { query });
      setTail((before) =>
        before.next === next
          ? { ...before, lines: [...before.lines, ...olderThan(before.lines, page.events)], next: page.next }
          : before,
      );
    } catch (error) {
      setTail((before) => ({ ...before, failure: asError(error) }));
    } finally {
      loadingOlder.current = false;
    }
  }, [asked, next]);

  return { ...tail, loadOlder };
}

/** Adds the newer events in front, each once, and drops the oldest beyond `MOST`. */
export function withNewer<State extends { lines: EventLine[]; next: number | null }>(
  before: State,
  arrived: readonly EventLine[],
): State {
  const newest = before.lines[0]?.seq ?? 0;
  const fresh = arrived.filter(({ seq }) => seq > newest).toReversed();
  if (fresh.length === 0) return before;
  const lines = [...fresh, ...before.lines];
  if (lines.length <= MOST) return { ...before, lines };
  const kept = lines.slice(0, MOST);
  return { ...before, lines: kept, next: kept.at(-1)?.seq ?? before.next };
}

function olderThan(lines: readonly EventLine[], page: readonly EventLine[]): EventLine[] {
  const oldest = lines.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return page.filter(({ seq }) => seq < oldest);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
