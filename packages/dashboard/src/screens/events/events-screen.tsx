// The live event log: filters in the URL, counts over time, pause and resume without a gap, each event in full.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { useLiveBoard } from '../../live/live.tsx';
import { Button, CopyButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { viaWords } from '../../parts/line-gist.ts';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { useKeys } from '../../parts/use-keys.ts';
import { CountsChart } from './counts-chart.tsx';
import { EventDetail } from './event-detail.tsx';
import { LineList } from './line-list.tsx';
import { useTail } from './use-tail.ts';
import { type EventFilters, waitForFilters } from './wait-for-command.ts';

export function EventsScreen() {
  const { event = '', ticket = '', repo = '', pr = '', filter = '', seq } = useSearch({ from: '/events' });
  const filters: EventFilters = { event, ticket, repo, pr, filter };
  const [paused, setPaused] = useState(false);
  const { lines, next, loading, failure, loadOlder } = useTail(filters, paused);
  const navigate = useNavigate();
  const selected = seq === undefined ? null : Number(seq);
  const select = (chosen: number | null): void => {
    void navigate({
      to: '/events',
      search: (before) => ({ ...before, seq: chosen === null ? undefined : String(chosen) }),
      replace: true,
    });
  };
  const move = (by: 1 | -1) => (pressed: KeyboardEvent) => {
    pressed.preventDefault();
    const at = lines.findIndex((line) => line.seq === selected);
    const wanted = lines[Math.min(Math.max(at + by, 0), lines.length - 1)];
    if (wanted) select(wanted.seq);
  };
  useKeys({
    j: move(1),
    k: move(-1),
    ArrowDown: move(1),
    ArrowUp: move(-1),
    p: () => setPaused((before) => !before),
    Escape: () => select(null),
  });
  const filtered = Object.values(filters).some((value) => value !== '');
  return (
    <>
      <ScreenHead
        title="Events"
        aside={
          <>
            <SearchField name="event" label="Topic" placeholder="Topic: codehost.pr.*" />
            <SearchField name="ticket" label="Ticket" placeholder="Ticket" />
            <SearchField name="repo" label="Repository" placeholder="Repository: owner/name" />
            <SearchField name="filter" label="jq filter" placeholder='jq: .via == "replay"' />
            <Button onClick={() => setPaused(!paused)} aria-pressed={paused} title="p">
              {paused ? (
                <Play aria-hidden="true" className="size-4" />
              ) : (
                <Pause aria-hidden="true" className="size-4" />
              )}
              {paused ? 'Resume' : 'Pause'}
            </Button>
          </>
        }
      >
        <TailState paused={paused} newest={lines[0]?.seq} filtered={filtered} />
      </ScreenHead>
      <CountsChart filters={filters} />
      {filtered && (
        <p className="mb-3 flex flex-wrap items-center gap-2 text-small text-muted">
          <code className="min-w-0 rounded-control bg-sunken px-2 py-1 text-tiny break-all">
            {waitForFilters(filters)}
          </code>
          <CopyButton text={waitForFilters(filters)} label="Copy wait-for command" />
        </p>
      )}
      {loading && <Loading what="the newest events" lines={8} />}
      {failure && <Failed error={failure} />}
      {!loading && failure === null && lines.length === 0 && next === null && (
        <Empty title={filtered ? 'No matching events.' : 'No events yet.'}>
          <p>{filtered ? 'New matches will appear here.' : 'Everything that svc records appears here.'}</p>
        </Empty>
      )}
      {(lines.length > 0 || next !== null) && (
        <div className={classNames('grid gap-4', selected !== null && 'full:grid-cols-[1fr_26rem]')}>
          <LineList
            lines={lines}
            selected={selected}
            select={select}
            loadOlder={loadOlder}
            hasOlder={next !== null}
          />
          {selected !== null && (
            <EventDetail
              seq={selected}
              known={lines.find((line) => line.seq === selected)}
              close={() => select(null)}
            />
          )}
        </div>
      )}
      {lines.length > 0 && <ViaKey />}
      {lines.length === 0 && selected !== null && !loading && (
        <Panel title={`Event ${selected}`} className="mt-4">
          <EventDetail seq={selected} known={undefined} close={() => select(null)} />
        </Panel>
      )}
    </>
  );
}

/** What the last column means. */
function ViaKey() {
  return (
    <dl className="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-tiny text-muted max-wide:hidden">
      {(['live', 'replay', 'poll', 'local'] as const).map((via) => (
        <div key={via} className="flex gap-1.5">
          <dt className="font-mono text-text">{via}</dt>
          <dd>{viaWords(via)}</dd>
        </div>
      ))}
    </dl>
  );
}

function TailState({
  paused,
  newest,
  filtered,
}: {
  paused: boolean;
  newest: number | undefined;
  filtered: boolean;
}) {
  const { seq } = useLiveBoard();
  const since = seq !== null && newest !== undefined ? Math.max(seq - newest, 0) : 0;
  if (!paused) return <p className="text-small text-muted">Live, newest first</p>;
  return (
    <p role="status" className="text-small text-you">
      Paused{!filtered && since > 0 && `: ${since} new ${since === 1 ? 'event' : 'events'}`}
    </p>
  );
}
