// Data from the metrics and log backends, queried through the daemon. A backend that is off or not responding is shown
// as such, with the fix; it never looks like "nothing happened".
import type { Answer } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { ChartLegend, type ChartSeries, seriesColours, TimeChart } from '../../parts/time-chart.tsx';
import { type LogsPanel, logsPanels, type MetricsPanel, metricsPanels } from './agent-queries.ts';

// Reads the responses of Prometheus and Loki, which the daemon passes on unchanged.

type BackendAnswer = Answer<'GET', '/api/otel/query'>;

/** The series or streams of a response with their labels; anything else is ignored. */
function resultsIn(answer: BackendAnswer, labels: 'metric' | 'stream') {
  return (answer.data?.result ?? []).flatMap((one) => {
    const entry = new Map<string, unknown>(Object.entries(Object(one)));
    const values = entry.get('values');
    if (!Array.isArray(values)) return [];
    const pairs = values.filter((pair): pair is unknown[] => Array.isArray(pair));
    return [{ labels: new Map<string, unknown>(Object.entries(Object(entry.get(labels)))), pairs }];
  });
}

function textOr(otherwise: string, ...values: unknown[]): string {
  return values.find((value) => typeof value === 'string') ?? otherwise;
}

/** One series per label value, with the same times; a missing value is unknown. */
export function chartOf(
  answer: BackendAnswer,
  by: string | null,
): { times: number[]; series: ChartSeries[]; total: number } {
  const result = resultsIn(answer, 'metric');
  const seconds = [...new Set(result.flatMap(({ pairs }) => pairs.map(([time]) => Number(time))))].toSorted(
    (one, other) => one - other,
  );
  const series = result.map(({ labels, pairs }, index) => {
    const known = new Map(pairs.map(([time, value]) => [Number(time), Number(value)]));
    return {
      label: by === null ? 'all' : textOr('unknown', labels.get(by)),
      colour: seriesColours[index % seriesColours.length] ?? 'series-1',
      values: seconds.map((time) => known.get(time) ?? null),
    };
  });
  const total = series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return { times: seconds.map((time) => time * 1000), series, total };
}

/** How often each value of a field occurs, most frequent first. The field is a label, or part of a JSON line. */
export function countsOf(answer: BackendAnswer, field: string): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { labels, pairs } of resultsIn(answer, 'stream')) {
    for (const [, line] of pairs) {
      const value = textOr('unknown', labels.get(field), fieldOfLine(textOr('', line), field));
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((one, other) => other.count - one.count);
}

function fieldOfLine(line: string, field: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = Reflect.get(JSON.parse(line) as object, field);
    return typeof value === 'string' ? value.slice(0, 200) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type Backend = Answer<'GET', '/api/otel/status'>['metrics'];
export type Range = { hours: number; step: string };

const REFRESH_MS = 30_000;

export function BackendPanels({ range }: { range: Range }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['otel', 'status'],
    queryFn: ({ signal }) => client.get('/api/otel/status', { signal }),
    refetchInterval: REFRESH_MS,
  });
  if (error) return <Failed error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading what="the backends" />;
  const { metrics, logs } = data;
  return (
    <>
      {metrics.state !== 'disabled' && (
        <p className="-mb-2 text-small text-muted">
          The charts are from your metrics backend: it has every session that sends metrics to it, also those
          that people start outside svc, so its sums differ from those above.
        </p>
      )}
      <div className="grid gap-4 full:grid-cols-2">
        {metrics.state !== 'disabled' &&
          metricsPanels(range.step).map((panel) => <Metrics key={panel.title} panel={panel} range={range} />)}
        {logs.state !== 'disabled' &&
          logsPanels.map((panel) => <Logs key={panel.title} panel={panel} range={range} />)}
      </div>
      <Off metrics={metrics} logs={logs} />
    </>
  );
}

/** What can be switched on, and how, said once. */
function Off({ metrics, logs }: { metrics: Backend; logs: Backend }) {
  const off = [
    { name: 'cost and tokens over time', backend: metrics },
    { name: 'tool usage and API errors', backend: logs },
  ].filter(({ backend }) => backend.state === 'disabled');
  if (off.length === 0) return null;
  const remedies = [...new Set(off.map(({ backend }) => backend.remedy))];
  return (
    <Panel title="Switched off">
      <div className="flex flex-col items-start gap-2 text-small">
        <p className="text-text">
          Charts of {off.map(({ name }) => name).join(', and of ')} come from your own metrics and log
          backends.
        </p>
        {[...new Set(off.map(({ backend }) => backend.why))].map((why) => (
          <p key={why} className="text-muted">
            {why}
          </p>
        ))}
        {remedies.map((remedy) => (
          <Remedy key={remedy} text={remedy} />
        ))}
      </div>
    </Panel>
  );
}

function Metrics({ panel, range }: { panel: MetricsPanel; range: Range }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['otel', 'query', panel.query, range],
    queryFn: ({ signal }) =>
      client.get('/api/otel/query', {
        query: { query: panel.query, ...window(range), step: range.step },
        signal,
      }),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const chart = data && chartOf(data, panel.by);
  return (
    <Panel title={panel.title} aside={chart && <ChartLegend series={chart.series} />}>
      {error && <Failed error={error} again={() => void refetch()} />}
      {chart === undefined && !error && <Loading what="the metrics backend" />}
      {chart && chart.times.length === 0 && <p className="text-small text-muted">No data in this period.</p>}
      {chart && chart.times.length > 0 && (
        <>
          <TimeChart
            caption={panel.title}
            times={chart.times}
            series={chart.series}
            bars
            amount={panel.amount}
          />
          <p className="mt-1 text-tiny text-muted">
            {panel.amount(chart.total)} in {range.hours} h
          </p>
        </>
      )}
    </Panel>
  );
}

const MOST_LINES = 1_000;
const SHOWN = 12;

function Logs({ panel, range }: { panel: LogsPanel; range: Range }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['otel', 'logs', panel.query, range],
    queryFn: ({ signal }) =>
      client.get('/api/otel/logs', {
        query: { query: panel.query, ...window(range), limit: MOST_LINES },
        signal,
      }),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const counts = data && countsOf(data, panel.field);
  const most = counts?.[0]?.count ?? 1;
  const total = counts?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <Panel
      title={panel.title}
      aside={
        total >= MOST_LINES && <span className="text-tiny text-muted">newest {MOST_LINES} lines only</span>
      }
    >
      {error && <Failed error={error} again={() => void refetch()} />}
      {counts === undefined && !error && <Loading what="the log backend" />}
      {counts?.length === 0 && <p className="text-small text-muted">{panel.empty}</p>}
      <ul className="flex flex-col gap-1.5 text-small">
        {counts?.slice(0, SHOWN).map(({ value, count }) => (
          <li key={value} className="grid grid-cols-[10rem_1fr_3rem] items-center gap-3">
            <OutsideText className="truncate">{value}</OutsideText>
            <div
              aria-hidden="true"
              className="h-2 rounded-full bg-line-strong"
              style={{ width: `${(count / most) * 100}%` }}
            />
            <span className="text-right text-muted">{count}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Seconds, rounded to whole steps, so two queries within a step are the same. */
function window({ hours }: Range): { start: number; end: number } {
  const end = Math.floor(Date.now() / 30_000) * 30;
  return { start: end - hours * 3_600, end };
}
