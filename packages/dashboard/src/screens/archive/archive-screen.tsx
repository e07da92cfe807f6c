// The archived runs.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { sizeWords } from '../../parts/amount-words.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/choice-field.tsx';
import { runLabel } from '../../parts/meaning.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { useAddressText } from '../../parts/search-field.tsx';
import { Ago } from '../../parts/since.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';

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
          <p>A run is archived after it ends, with its signal files, output, summary and events.</p>
          <Remedy text="Run: svc archive sweep --dry-run" />
        </Empty>
      )}
      {runs.length > 0 && (
        <div
          className="overflow-x-auto rounded-card border border-line bg-surface"
          tabIndex={0}
          role="region"
          aria-label="Archived runs"
        >
          <table className="w-full text-small">
            <thead className="text-left text-tiny text-muted">
              <tr className="h-9">
                <th scope="col" className="px-4 font-medium">
                  Run
                </th>
                <th scope="col" className="px-4 font-medium">
                  State
                </th>
                <th scope="col" className="px-4 font-medium">
                  Archived
                </th>
                <th scope="col" className="px-4 text-right font-medium">
                  Files
                </th>
                <th scope="col" className="px-4 text-right font-medium">
                  Size
                </th>
                <th scope="col" className="px-4 text-right font-medium">
                  Stored
                </th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.orchestrator} className="h-9 border-line border-t hover:bg-sunken">
                  <td className="px-4">
                    <Link
                      to="/archive/$run"
                      params={{ run: run.orchestrator }}
                      className="font-medium text-ink underline-offset-2 hover:underline"
                    >
                      {run.orchestrator}
                    </Link>
                  </td>
                  <td className="px-4">
                    <Pill meaning={runLabel(run.state).meaning}>{runLabel(run.state).words}</Pill>
                  </td>
                  <td className="px-4 whitespace-nowrap text-muted">
                    <Ago at={run.archivedAt} />
                  </td>
                  <td className="px-4 text-right">{run.files}</td>
                  <td className="px-4 text-right whitespace-nowrap">{sizeWords(run.bytes)}</td>
                  <td className="px-4 text-right whitespace-nowrap text-muted">
                    {sizeWords(run.storedBytes)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
