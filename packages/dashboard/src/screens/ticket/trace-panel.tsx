// The trace of one worker, as bars or as a table.

import type { Trace } from '@svc/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { getJson, path } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { TraceChart, TraceKey } from './trace-chart.tsx';
import { TraceTable } from './trace-table.tsx';

/** Bars that go on grow by themselves. */
const REFRESH_MS = 15_000;

export function TracePanel({
  ticket,
  run,
  isProven,
}: {
  ticket: string;
  run: string | undefined;
  /** The worker was seen to be done. */
  isProven: boolean;
}) {
  const [asTable, setAsTable] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket', ticket, 'trace', run],
    queryFn: ({ signal }) =>
      getJson<Trace>(path(`/api/workers/${encodeURIComponent(ticket)}/trace`, { orchestrator: run }), signal),
    refetchInterval: ({ state }) => (state.data?.spans.some(({ end }) => end === null) ? REFRESH_MS : false),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel
      title="Trace"
      flush
      aside={
        <Button quiet onClick={() => setAsTable(!asTable)}>
          {asTable ? 'As bars' : 'As a table'}
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
        <p className="p-4 text-muted">Nothing with a beginning was told of this ticket yet.</p>
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
          This ticket has more lines than one trace takes: the oldest are left out.
        </p>
      )}
    </Panel>
  );
}
