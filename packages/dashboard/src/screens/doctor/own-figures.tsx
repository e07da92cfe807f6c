// How fast svc itself is: how soon deliveries are saved, and what it asks the code host.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../api/client.ts';
import { Age } from '../../parts/age.tsx';
import { clockWords } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

export function OwnFigures() {
  const { data, error, refetch } = useQuery({
    queryKey: ['figures'],
    queryFn: ({ signal }) => client.get('/api/figures', { signal }),
    refetchInterval: 5_000,
  });
  if (error) return <Failed error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading what="the daemon's figures" />;
  const { deliveries, commits, codehost } = data;
  return (
    <div className="grid gap-4 full:grid-cols-2">
      <Panel
        title="How fast svc is"
        aside={
          <span className="text-tiny text-muted">
            since start, <Age at={data.since} /> ago
          </span>
        }
      >
        <dl className="grid grid-cols-2 gap-4 wide:grid-cols-4">
          <Figure name="Saved after (median)">{milliseconds(deliveries.p50Ms)}</Figure>
          <Figure name="99 % saved within">{milliseconds(deliveries.p99Ms)}</Figure>
          <Figure name="Disk write (median)">{milliseconds(commits.p50Ms)}</Figure>
          <Figure name="99 % written within">{milliseconds(commits.p99Ms)}</Figure>
        </dl>
        <p className="mt-3 text-tiny text-muted">
          {deliveries.count.toLocaleString('en-GB')} deliveries accepted since the start; the times are of the
          newest {deliveries.sampled.toLocaleString('en-GB')}.
        </p>
      </Panel>
      <Panel title="Code host calls">
        <dl className="grid grid-cols-2 gap-4 wide:grid-cols-4">
          <Figure name="In the last hour">{codehost.callsInLastHour.toLocaleString('en-GB')}</Figure>
          <Figure name="Limit per hour">{codehost.callsPerHour.toLocaleString('en-GB')}</Figure>
          <Figure name="Since the start">{codehost.calls.toLocaleString('en-GB')}</Figure>
          <Figure name="Saved by webhooks">{codehost.avoided.toLocaleString('en-GB')}</Figure>
        </dl>
        <ul className="mt-3 flex flex-col gap-1 text-tiny text-muted">
          {Object.entries(codehost.quotas).map(([name, quota]) => (
            <li key={name}>
              {name}: {quota.remaining.toLocaleString('en-GB')} of {quota.limit.toLocaleString('en-GB')} left,
              resets at {clockWords(Date.parse(quota.resetsAt), Date.now())}
            </li>
          ))}
          {codehost.pausedUntil !== null && (
            <li className="text-you">
              Paused until {clockWords(Date.parse(codehost.pausedUntil), Date.now())}
            </li>
          )}
          {Object.keys(codehost.quotas).length === 0 && <li>No rate limit reported yet.</li>}
        </ul>
      </Panel>
    </div>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-col-reverse">
      <dt className="text-tiny text-muted">{name}</dt>
      <dd className="text-figure font-semibold text-ink">{children}</dd>
    </div>
  );
}

function milliseconds(value: number | null): ReactNode {
  if (value === null) return <span className="text-lead font-normal text-unknown">unknown</span>;
  return (
    <>
      {value < 10 ? value.toFixed(1) : Math.round(value)}
      <span className="text-small font-normal text-muted"> ms</span>
    </>
  );
}
