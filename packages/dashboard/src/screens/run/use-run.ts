// A run, and all runs, at the time being viewed: from the board, and if live also from the daemon's view of them.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { ApiFailure, client } from '../../api/client.ts';
import { useBoard, useLines, useNow } from '../../live/live.tsx';
import { needsYou } from '../attention/inbox.ts';
import { type RunModel, type RunRow, runModel } from './run-model.ts';

/** A burst of events causes one request. */
const REFRESH_AFTER_MS = 500;

type ShownRun = {
  model: RunModel | null;
  row: RunRow | null;
  moment: string | null;
  loading: boolean;
  failure: Error | null;
  again: () => void;
};

export function useRun(name: string): ShownRun {
  const { board, moment, loading, failure } = useBoard();
  const view = useQuery({
    queryKey: ['run', name],
    queryFn: ({ signal }) => client.get('/api/runs/{run}', { params: { run: name }, signal }),
    enabled: moment === null,
    placeholderData: keepPreviousData,
  });
  useRefresh(['run', name], (orchestrator) => orchestrator === name);
  const now = useNow();
  const minute = Math.floor(now / 10_000);
  const row = board.runs.get(name) ?? null;
  const detail = moment === null && view.data?.orchestrator === name ? view.data : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a snooze ends by the clock, ten seconds are enough.
  const model = useMemo(
    () => runModel({ run: row, view: detail, board, needsYou: (worker) => needsYou(worker, board, now) }),
    [board, row, detail, minute],
  );
  const refused = view.error instanceof ApiFailure && view.error.code === 'unknown-run';
  return {
    model,
    row,
    moment,
    loading: loading || (model === null && moment === null && view.isPending),
    failure: failure ?? (model === null && !refused ? view.error : null),
    again: () => void view.refetch(),
  };
}

/** Reloads the query soon after events of a run. */
function useRefresh(queryKey: readonly unknown[], isOurs: (orchestrator: string) => boolean): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLines((lines) => {
    const news = lines.some(({ scope }) => scope.orchestrator === undefined || isOurs(scope.orchestrator));
    if (!news || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey });
    }, REFRESH_AFTER_MS);
  });
}

/** Newest first, also those that are no longer on the board. */
export function useRuns() {
  const { board, moment, loading, failure } = useBoard();
  const now = useNow();
  const views = useQuery({
    queryKey: ['runs'],
    queryFn: ({ signal }) => client.get('/api/runs', { signal }),
    enabled: moment === null,
  });
  useRefresh(['runs'], () => true);
  const listed = moment === null ? views.data?.runs : undefined;
  const tick = Math.floor(now / 10_000);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a snooze ends by the clock, ten seconds are enough.
  const models = useMemo(() => {
    const byName = new Map(listed?.map((view) => [view.orchestrator, view]) ?? []);
    return [...new Set([...byName.keys(), ...board.runs.keys()])]
      .flatMap((name) => {
        const run = board.runs.get(name) ?? null;
        const view = byName.get(name) ?? null;
        return runModel({ run, view, board, needsYou: (worker) => needsYou(worker, board, now) }) ?? [];
      })
      .toSorted((one, other) => (other.startedAt ?? '').localeCompare(one.startedAt ?? ''));
  }, [board, listed, tick]);
  return {
    models,
    loading: loading || (moment === null && views.isPending),
    failure: failure ?? views.error,
    again: () => void views.refetch(),
  };
}
