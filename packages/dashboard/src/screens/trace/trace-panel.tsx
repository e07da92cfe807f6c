// The trace of one worker, as bars or as a table.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Trace } from 'svc-monitor/src/features/trace/api.ts';
import { spanLabel, spanStates } from 'svc-monitor/src/features/trace/span-words.ts';
import type { TraceSpan } from 'svc-monitor/src/features/trace/trace-span.ts';
import { client } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { clockWords, durationWords, exactWords } from '../../parts/format.ts';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';
import { laneNames, spanMeaning, TraceChart, TraceKey } from './trace-chart.tsx';

function TraceTable({ trace, isProven }: { trace: Trace; isProven: boolean }) {
  const now = Date.parse(trace.now);
  return (
    <Table
      label="Trace as a table"
      head={
        <>
          <Column>Kind</Column>
          <Column>Name</Column>
          <Column>State</Column>
          <Column number>Start</Column>
          <Column number>End</Column>
          <Column number>Duration</Column>
          <Column>Events</Column>
        </>
      }
    >
      {trace.spans.map((span) => (
        <tr key={span.id} className={rowClass}>
          <Cell className="whitespace-nowrap text-muted">{laneNames[span.kind]}</Cell>
          <Cell>
            <OutsideLink href={span.url}>
              <OutsideText>{spanLabel(span, isProven)}</OutsideText>
            </OutsideLink>
            {span.reason !== null && (
              <span className="ml-2 text-muted">
                <OutsideText>{span.reason}</OutsideText>
              </span>
            )}
          </Cell>
          <Cell>
            <State span={span} isProven={isProven} />
          </Cell>
          <Cell number>
            <Moment at={span.start} now={now} />
          </Cell>
          <Cell number>{span.end === null ? 'in progress' : <Moment at={span.end} now={now} />}</Cell>
          <Cell number>
            {span.end === span.start
              ? 'instant'
              : durationWords((span.end === null ? now : Date.parse(span.end)) - Date.parse(span.start))}
          </Cell>
          <Cell className="whitespace-nowrap">
            <EventLink seq={span.startSeq} />
            {span.endSeq !== null && span.endSeq !== span.startSeq && (
              <>
                {' '}
                <EventLink seq={span.endSeq} />
              </>
            )}
          </Cell>
        </tr>
      ))}
    </Table>
  );
}

function State({ span, isProven }: { span: TraceSpan; isProven: boolean }) {
  const meaning = spanMeaning(span, isProven);
  const words = spanStates[span.state];
  return meaning === 'plain' ? (
    <span className="text-muted">{words}</span>
  ) : (
    <Pill meaning={meaning}>{words}</Pill>
  );
}

function Moment({ at, now }: { at: string; now: number }) {
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exactWords(time)}>
      {clockWords(time, now)}
    </time>
  );
}

/** Bars in progress grow. */
const REFRESH_MS = 15_000;

export function TracePanel({
  ticket,
  run,
  isProven,
}: {
  ticket: string;
  run: string | undefined;
  /** The worker is proven to be done. */
  isProven: boolean;
}) {
  const [asTable, setAsTable] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket', ticket, 'trace', run],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/trace', {
        params: { ticket },
        query: { orchestrator: run },
        signal,
      }),
    refetchInterval: ({ state }) => (state.data?.spans.some(({ end }) => end === null) ? REFRESH_MS : false),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel
      title="Trace"
      flush
      aside={
        <Button quiet onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      }
    >
      {error !== null && data === undefined ? (
        <div className="p-4">
          <Failed error={error} again={() => void refetch()} />
        </div>
      ) : data === undefined ? (
        <div className="p-4">
          <Loading what="the trace" />
        </div>
      ) : data.spans.length === 0 ? (
        <p className="p-4 text-muted">No activity recorded for this ticket yet.</p>
      ) : asTable ? (
        <TraceTable trace={data} isProven={isProven} />
      ) : (
        <>
          <TraceChart trace={data} isProven={isProven} />
          <TraceKey />
        </>
      )}
      {data?.cut === true && (
        <p className="border-line border-t px-4 py-2 text-tiny text-muted">
          This ticket has too many events for one trace; the oldest are left out.
        </p>
      )}
    </Panel>
  );
}
