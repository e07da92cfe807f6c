import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { EventCounts } from 'svc-monitor/src/kernel/log/event-counts.ts';
import { type EventFamily, eventFamilies } from 'svc-monitor/src/kernel/log/event-families.ts';
import { client } from '../../api/client.ts';
import { Panel } from '../../parts/panel.tsx';
import { ChoiceField, useAddressText } from '../../parts/search-field.tsx';
import { Failed } from '../../parts/states.tsx';
import { ChartLegend, type ChartSeries, TimeChart } from '../../parts/time-chart.tsx';
import { conditionsOf, type EventFilters } from './wait-for-command.ts';

// The series of the chart: a colour for each of the frequent topic families; the rare ones share one. Colours only
// distinguish them; the legend names them.

const familyColours: Partial<Record<EventFamily, ChartSeries['colour']>> = {
  codehost: 'series-1',
  tracker: 'series-2',
  orchestrator: 'series-3',
  workflow: 'series-4',
  agent: 'series-5',
  session: 'series-6',
  monitor: 'series-7',
};
const OTHERS = { label: 'other', colour: 'series-8' } as const;

const REFRESH_MS = 10_000;

/** Event counts over time, by topic family. A jq filter does not apply: the counts come from the index. */
export function CountsChart({ filters }: { filters: EventFilters }) {
  const [range] = useAddressText('range');
  const since = range === '' ? '24h' : range;
  const { filter, ...conditions } = conditionsOf(filters);
  const { data, error, refetch } = useQuery({
    queryKey: ['events', 'counts', since, conditions],
    queryFn: ({ signal }) =>
      client.get('/api/events/counts', { query: { ...conditions, since, buckets: 96 }, signal }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const { times, series } = useMemo(() => seriesOf(data), [data]);
  return (
    <Panel
      title="Events over time"
      className="mb-4"
      aside={
        <div className="flex flex-wrap items-center gap-4">
          <ChartLegend series={series} />
          <ChoiceField
            name="range"
            label="Time range"
            all="24 hours"
            options={[
              { value: '1h', text: '1 hour' },
              { value: '7d', text: '7 days' },
              { value: '30d', text: '30 days' },
            ]}
          />
        </div>
      }
    >
      {error ? (
        <Failed error={error} again={() => void refetch()} />
      ) : (
        <TimeChart caption={`Events in the last ${since}`} times={times} series={series} bars />
      )}
      {!error && (
        <p className="mt-1 text-tiny text-muted">
          {data ? `${data.total.toLocaleString('en-GB')} events` : 'Counting'}
          {data?.complete === false && ', the oldest counts are incomplete'}
          {filter !== undefined && '; the jq filter is not applied here'}
        </p>
      )}
    </Panel>
  );
}

export function seriesOf(counts: EventCounts | undefined): { times: number[]; series: ChartSeries[] } {
  if (counts === undefined) return { times: [], series: [] };
  const valuesOf = (families: readonly EventFamily[]): number[] =>
    counts.buckets.map((bucket) => families.reduce((sum, family) => sum + (bucket.families[family] ?? 0), 0));
  const others = eventFamilies.filter((family) => familyColours[family] === undefined);
  const series = [
    ...eventFamilies.flatMap((family) => {
      const colour = familyColours[family];
      return colour === undefined ? [] : [{ label: family, colour, values: valuesOf([family]) }];
    }),
    { ...OTHERS, values: valuesOf(others) },
  ];
  return {
    times: counts.buckets.map(({ at }) => Date.parse(at)),
    series: series.filter(({ values }) => values.some((value) => value > 0)),
  };
}
