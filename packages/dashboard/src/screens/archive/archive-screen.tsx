// The archived runs.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { runLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { client } from '../../api/client.ts';
import { Ago } from '../../parts/age.tsx';
import { Button } from '../../parts/button.tsx';
import { sizeWords } from '../../parts/format.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { ChoiceField, useAddressText } from '../../parts/search-field.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';

const states = ['completed', 'canceled', 'running', 'paused', 'unknown'] as const;

export function ArchiveScreen() {
  const [text] = useAddressText('state');
  const state = states.find((one) => one === text);
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery({
      queryKey: ['archive', state],
      queryFn: ({ pageParam, signal }) =>
        client.get('/api/archive', { query: { state, after: pageParam ?? undefined }, signal }),
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.next,
    });
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  const [first] = data?.pages ?? [];
  return (
    <>
      <ScreenHead
        title="Archive"
        aside={
          <ChoiceField
            name="state"
            label="State"
            all="All states"
            options={states.map((value) => ({ value, text: value }))}
          />
        }
      >
        {first && <p className="text-small break-all text-muted">{first.root}</p>}
      </ScreenHead>
      {isPending && <Loading what="the archive" lines={6} />}
      {error && <Failed error={error} again={() => void refetch()} />}
      {first && first.unindexed > 0 && (
        <div className="mb-4 flex flex-wrap items-center gap-3 text-small text-you">
          {first.unindexed} {first.unindexed === 1 ? 'folder' : 'folders'} in the archive not in its index.
          <Remedy text="Run: svc archive sweep" />
        </div>
      )}
      {first && runs.length === 0 && (
        <Empty title={state === undefined ? 'No archived runs yet.' : `No archived runs are ${state}.`}>
          <p>A run is archived after it ends, with its status files, output, summary and events.</p>
          <Remedy text="Run: svc archive sweep --dry-run" />
        </Empty>
      )}
      {runs.length > 0 && (
        <Table
          label="Archived runs"
          className="rounded-card border border-line bg-surface"
          head={
            <>
              <Column>Run</Column>
              <Column>State</Column>
              <Column>Archived</Column>
              <Column number className="max-wide:hidden">
                Files
              </Column>
              <Column number>Size</Column>
              <Column number className="max-wide:hidden">
                Stored
              </Column>
            </>
          }
        >
          {runs.map((run) => (
            <tr key={run.orchestrator} className={`${rowClass} hover:bg-sunken`}>
              <Cell>
                <Link
                  to="/archive/$run"
                  params={{ run: run.orchestrator }}
                  className="whitespace-nowrap font-medium text-ink underline-offset-2 hover:underline"
                >
                  {run.orchestrator}
                </Link>
              </Cell>
              <Cell>
                <Pill meaning={runLabel(run.state).meaning}>{runLabel(run.state).words}</Pill>
              </Cell>
              <Cell className="whitespace-nowrap text-muted">
                <Ago at={run.archivedAt} />
              </Cell>
              <Cell number className="max-wide:hidden">
                {run.files}
              </Cell>
              <Cell number>{sizeWords(run.bytes)}</Cell>
              <Cell number className="text-muted max-wide:hidden">
                {sizeWords(run.storedBytes)}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {hasNextPage && (
        <div className="mt-4">
          <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
            {isFetchingNextPage ? 'Loading' : 'Show older runs'}
          </Button>
        </div>
      )}
    </>
  );
}
