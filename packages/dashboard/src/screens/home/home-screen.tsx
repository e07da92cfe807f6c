// What is happening and what needs me: the board, now or at a past moment.
import type { BoardCard, BoardView, ProjectList } from '@svc/core';
import { type BoardColumn, type BoardColumns, boardColumnNames, boardColumns } from '@svc/core/browser';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { getJson } from '../../api/client.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useBoard, useLink, useNow } from '../../live/live.tsx';
import { classNames } from '../../parts/class-names.ts';
import { useMatchesFull } from '../../parts/narrow.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { Failed } from '../../parts/states.tsx';
import { TimeScrubber } from '../../parts/time-scrubber.tsx';
import { useHealth } from '../../shell/trust-bar.tsx';
import { type BoardFilter, isFiltering, matches, repoOf } from './board-filter.ts';
import { BoardSkeleton } from './board-skeleton.tsx';
import { ChangesLine } from './changes-line.tsx';
import { Column } from './column.tsx';
import { FilterBar } from './filter-bar.tsx';
import { FirstRun } from './first-run.tsx';

/** On a narrow screen the two that matter come first. */
const narrowOrder: readonly BoardColumn[] = ['needs-you', 'working', 'in-review', 'shipping', 'done-today'];

export function HomeScreen() {
  const { board, moment, failure } = useBoard();
  const { data: health } = useHealth();
  const isEmpty = moment === null && board.workers.size === 0 && board.pullRequests.size === 0;
  const isNew = useNothingEver(isEmpty && board.seq !== null);
  if (failure !== null) return <Failed error={failure} />;
  if (board.seq === null)
    return (
      <>
        <ScreenHead title="Board" />
        <BoardSkeleton />
      </>
    );
  if (isEmpty && isNew && health !== undefined)
    return (
      <>
        <ScreenHead title="Board" />
        <FirstRun health={health} runs={board.runs.size} />
      </>
    );
  return <WholeBoard board={board} moment={moment} />;
}

function WholeBoard({ board, moment }: { board: LiveBoard; moment: string | null }) {
  const search = useSearch({ from: '/' });
  const order = useMatchesFull() ? boardColumnNames : narrowOrder;
  const isLost = useLink().state === 'lost' && moment === null;
  const projects = useProjects();
  const { columns, off } = useColumns(board);
  const { run, repo, q: text } = search;
  const project = projects.find(({ id }) => id === search.project);
  const filtered = isFiltering({ run, project, repo, text });
  const shown = useMemo(() => {
    const filter: BoardFilter = { run, project, repo, text };
    return isFiltering(filter)
      ? mapColumns(columns, (cards) => cards.filter((card) => matches(card, filter, board.runs)))
      : columns;
  }, [columns, board.runs, run, project, repo, text]);
  const cards = boardColumnNames.flatMap((name) => columns[name]);
  const runs = [...new Set(cards.flatMap(({ worker }) => worker?.orchestrator ?? []))].toSorted();
  const repos = [...new Set(cards.flatMap((card) => repoOf(card) ?? []))].toSorted();
  return (
    <>
      <ScreenHead
        title="Board"
        aside={
          <FilterBar
            isFiltering={filtered}
            runs={runs.map((value) => ({ value, text: board.runs.get(value)?.name ?? value }))}
            projects={projects.map(({ id, name }) => ({ value: id, text: name ?? id }))}
            repos={repos.map((value) => ({ value, text: value }))}
          />
        }
      />
      {moment === null && <ChangesLine />}
      <TimeScrubber />
      <div
        className={classNames(
          'mt-4 grid items-start gap-x-3 gap-y-6 rounded-card full:grid-cols-5 wide:grid-cols-3',
          isLost && 'outline-2 outline-unknown-mark outline-offset-8 outline-dashed',
        )}
      >
        {order.map((name) => (
          <Column key={name} name={name} cards={shown[name]} at={moment} filtered={filtered} />
        ))}
      </div>
      <OffBoardLine {...off} />
    </>
  );
}

function mapColumns(
  columns: BoardColumns['columns'],
  change: (cards: BoardCard[]) => BoardCard[],
): BoardColumns['columns'] {
  return {
    working: change(columns.working),
    'needs-you': change(columns['needs-you']),
    'in-review': change(columns['in-review']),
    shipping: change(columns.shipping),
    'done-today': change(columns['done-today']),
  };
}

function OffBoardLine({ canceled, removed, earlier }: BoardColumns['off']) {
  const parts = [
    canceled > 0 && `${canceled} canceled`,
    removed > 0 && `${removed} without a signal file`,
    earlier > 0 && `${earlier} done before today`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  return <p className="mt-6 text-tiny text-muted">Not shown: {parts.join(', ')}.</p>;
}

/** The clock moves cards only when a snooze ends or a day begins: a minute is soon enough. */
function useColumns(board: LiveBoard): BoardColumns {
  const minute = Math.floor(useNow() / 60_000) * 60_000;
  const { workers, pullRequests, tickets, attention } = board;
  return useMemo(
    () =>
      boardColumns({
        workers: workers.values(),
        pullRequests: pullRequests.values(),
        tickets: tickets.values(),
        attention: attention.values(),
        now: minute + 60_000,
        dayStart: new Date(minute).setHours(0, 0, 0, 0),
      }),
    [workers, pullRequests, tickets, attention, minute],
  );
}

function useProjects(): ProjectList['projects'] {
  const { data } = useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => getJson<ProjectList>('/api/projects', signal),
    staleTime: 60_000,
  });
  return data?.projects ?? [];
}

/** An empty board may only be one on which all has settled: the whole one is asked before anybody is welcomed. */
function useNothingEver(isAsked: boolean): boolean {
  const { data } = useQuery({
    queryKey: ['board-all'],
    queryFn: ({ signal }) => getJson<BoardView>('/api/board?all=1', signal),
    enabled: isAsked,
    staleTime: 60_000,
  });
  return data !== undefined && data.workers.length === 0 && data.pullRequests.length === 0;
}
