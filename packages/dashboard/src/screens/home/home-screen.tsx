// The board, live or at a past time.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { History, X } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { BoardCard } from 'svc-monitor/src/features/board/board-columns.ts';
import {
  type BoardColumns,
  boardColumnNames,
  boardColumns,
} from 'svc-monitor/src/features/board/board-columns.ts';
import { client } from '../../api/client.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useBoard, useBoardTime, useLink, useShownItems, useView, useWholeBoard } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { ChoiceField, SearchField } from '../../parts/search-field.tsx';
import { Failed } from '../../parts/states.tsx';
import { TimeScrubber } from '../../parts/time-scrubber.tsx';
import { useKeys } from '../../parts/use-keys.ts';
import { MachineField, NotHeard, ShownInPart, TeamSwitch } from '../../shell/team.tsx';
import { needsYouOf } from '../attention/inbox.ts';
import { NewTaskButton } from '../start/new-task.tsx';
import {
  type BoardFilter,
  isFiltering,
  matches,
  type Project,
  repoOf,
  withoutAgent,
} from './board-filter.ts';
import { focusCard } from './card-answer.tsx';
import { ChangesLine } from './changes-line.tsx';
import { Column } from './column.tsx';
import { FirstBoard } from './first-board.tsx';
import { Sessions } from './sessions.tsx';

// The placeholder while the board loads.

const heights = [[112, 128, 96], [140, 112], [96, 128, 112], [112], [28, 28, 28, 28]];

export function BoardSkeleton() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 2_000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status">
      <p className={late ? 'mb-3 text-small text-muted' : 'sr-only'}>
        Waiting for the daemon to read its log.
      </p>
      <div aria-hidden="true" className="grid gap-3 full:grid-cols-5 wide:grid-cols-3">
        {heights.map((column, number) => (
          <div
            key={column.join()}
            className={number > 1 ? 'flex flex-col gap-2 max-wide:hidden' : 'flex flex-col gap-2'}
          >
            <div className="my-2 h-4 w-24 rounded-control bg-sunken" />
            {column.map((height, row) => (
              <div key={row} className="rounded-card bg-sunken" style={{ height }} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

// The filters of the board, kept in the URL.

type Option = { value: string; text: string };

/** A select with only one option is left out. */
export function FilterBar({
  runs,
  projects,
  repos,
  isFiltered,
}: {
  runs: readonly Option[];
  projects: readonly Option[];
  repos: readonly Option[];
  isFiltered: boolean;
}) {
  const navigate = useNavigate();
  const showAll = (): void =>
    void navigate({
      to: '/',
      search: ({ at, view }) => ({ at, view }),
      replace: true,
    });
  return (
    <search className="flex flex-wrap items-center gap-2 max-wide:w-full max-wide:*:flex-1 max-wide:[&>div:first-of-type]:basis-full max-wide:[&_select]:w-full max-wide:[&_select]:max-w-none">
      {isFiltered && (
        <Button quiet onClick={showAll}>
          <X aria-hidden="true" className="size-3.5" />
          Show all
        </Button>
      )}
      <SearchField name="q" label="Search the board" placeholder="Ticket, title, author" />
      <MachineField />
      {runs.length > 1 && <ChoiceField name="run" label="Run" all="All runs" options={runs} />}
      {projects.length > 1 && (
        <ChoiceField name="project" label="Project" all="All projects" options={projects} />
      )}
      {repos.length > 1 && (
        <ChoiceField name="repo" label="Repository" all="All repositories" options={repos} />
      )}
    </search>
  );
}

export function HomeScreen() {
  const { board, moment, failure } = useBoard();
  if (failure !== null) return <Failed error={failure} />;
  if (board.seq === null)
    return (
      <>
        <ScreenHead title="Board" />
        <BoardSkeleton />
      </>
    );
  return <WholeBoard board={board} moment={moment} />;
}

function WholeBoard({ board, moment }: { board: LiveBoard; moment: string | null }) {
  const search = useSearch({ from: '/' });
  const isLost = useLink().state === 'lost' && moment === null;
  const projects = useProjects();
  const { columns, off } = useColumns(board);
  const [isTimeOpen, setTimeOpen] = useState(false);
  const items = useShownItems(board);
  const { others } = needsYouOf(board, items.values(), useBoardTime());
  const { run, repo, machine, q: text } = search;
  const isTeam = useView() === 'team';
  const first = useFirstBoard(projects, board, moment === null && !isTeam);
  const project = projects.find(({ id }) => id === search.project);
  const filtered = isFiltering({ run, project, repo, machine, text });
  const shown = useMemo(() => {
    const filter: BoardFilter = { run, project, repo, machine, text };
    return isFiltering(filter)
      ? mapColumns(columns, (cards) => cards.filter((card) => matches(card, filter, board.runs)))
      : columns;
  }, [columns, board.runs, run, project, repo, machine, text]);
  useKeys({ j: () => focusCard(1), k: () => focusCard(-1) });
  const cards = boardColumnNames.flatMap((name) => columns[name]);
  const runs = [...new Set(cards.flatMap(({ worker }) => worker?.orchestrator ?? []))].toSorted();
  const repos = [...new Set(cards.flatMap((card) => repoOf(card) ?? []))].toSorted();
  return (
    <>
      <ScreenHead
        title="Board"
        aside={
          <>
            {moment === null && !isTeam && <NewTaskButton />}
            <TeamSwitch />
            {moment === null && (
              <Button quiet aria-pressed={isTimeOpen} onClick={() => setTimeOpen(!isTimeOpen)}>
                <History aria-hidden="true" className="size-4" />
                History
              </Button>
            )}
            <FilterBar
              isFiltered={filtered}
              runs={runs.map((value) => ({ value, text: board.runs.get(value)?.name ?? value }))}
              projects={projects.map(({ id, name }) => ({ value: id, text: name ?? id }))}
              repos={repos.map((value) => ({ value, text: value }))}
            />
          </>
        }
      />
      {first !== null && (
        <FirstBoard
          projects={first.filter(({ id }) => search.project === undefined || id === search.project)}
          served={projects}
        />
      )}
      {moment === null && <NotHeard />}
      <ShownInPart />
      {moment === null && !isTeam && <ChangesLine />}
      {(isTimeOpen || moment !== null) && <TimeScrubber />}
      <Sessions sessions={board.sessions} />
      <div
        className={classNames(
          'mt-4 grid items-start gap-x-3 gap-y-6 rounded-card full:grid-cols-5 wide:grid-cols-3',
          isLost && 'outline-2 outline-unknown-mark outline-offset-8 outline-dashed',
        )}
      >
        {boardColumnNames.map((name) => (
          <Column
            key={name}
            name={name}
            cards={shown[name]}
            at={moment}
            filtered={filtered}
            others={name === 'needs-you' && !filtered ? others : 0}
          />
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
    removed > 0 && `${removed} no longer tracked`,
    earlier > 0 && `${earlier} done before today`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  return <p className="mt-6 text-tiny text-muted">Not shown: {parts.join(', ')}.</p>;
}

function useColumns(board: LiveBoard): BoardColumns {
  const time = useBoardTime();
  const { workers, pullRequests, tickets, attention } = board;
  return useMemo(
    () =>
      boardColumns({
        workers: workers.values(),
        pullRequests: pullRequests.values(),
        tickets: tickets.values(),
        attention: attention.values(),
        now: time,
        dayStart: new Date(time).setHours(0, 0, 0, 0),
      }),
    [workers, pullRequests, tickets, attention, time],
  );
}

const noProjects: Project[] = [];

function useProjects(): Project[] {
  const { data } = useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => client.get('/api/projects', { signal }),
    staleTime: 60_000,
  });
  return data?.projects ?? noProjects;
}

/**
 * The projects in which no agent ever worked; null if there is none, or it is not known. Without any project: none on this
 * machine worked. What is not on the board may just have settled, so then the whole one is loaded.
 */
function useFirstBoard(projects: Project[], board: LiveBoard, isAsked: boolean): Project[] | null {
  const isNew = ({ workers, runs }: Pick<LiveBoard, 'workers' | 'runs'>): Project[] | null => {
    if (projects.length === 0) return workers.size === 0 ? noProjects : null;
    const found = withoutAgent(projects, { workers, runs });
    return found.length === 0 ? null : found;
  };
  const mayBeNew = isAsked && isNew(board) !== null;
  const { board: whole } = useWholeBoard(mayBeNew);
  return whole === null ? null : isNew(whole);
}
