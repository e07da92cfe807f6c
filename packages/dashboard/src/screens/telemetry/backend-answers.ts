// Reads the answers of Prometheus and Loki, which the daemon passes on as they are.
import { type ChartSeries, seriesColours } from '../../parts/time-chart.tsx';

type Matrix = { data?: { result?: { metric: Record<string, string>; values: [number, string][] }[] } };
type Streams = { data?: { result?: { stream: Record<string, string>; values: [string, string][] }[] } };

/** One series per value of the label, at the same times; a time without a value is unknown. */
export function chartOf(
  answer: Matrix,
  by: string | null,
): { times: number[]; series: ChartSeries[]; total: number } {
  const result = answer.data?.result ?? [];
  const seconds = [...new Set(result.flatMap(({ values }) => values.map(([time]) => time)))].toSorted(
    (one, other) => one - other,
  );
  const series = result.map(({ metric, values }, index) => {
    const known = new Map(values.map(([time, value]) => [time, Number(value)]));
    return {
      label: by === null ? 'all' : (metric[by] ?? 'unknown'),
      colour: seriesColours[index % seriesColours.length] ?? 'series-1',
      values: seconds.map((time) => known.get(time) ?? null),
    };
  });
  const total = series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return { times: seconds.map((time) => time * 1000), series, total };
}

/** How often each value of a field occurs, most first. The field is a label, or in the line when that is JSON. */
export function countsOf(answer: Streams, field: string): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { stream, values } of answer.data?.result ?? []) {
    for (const [, line] of values) {
      const value = stream[field] ?? fieldOfLine(line, field) ?? 'unknown';
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
