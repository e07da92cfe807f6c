// A chart over time, drawn by uPlot, which is loaded with the first chart. Colours come from the theme; screen readers
// get the caption and a table.
import { useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { clockWords, countWords } from './format.ts';

export const seriesColours = [
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
  'series-7',
  'series-8',
] as const;

export type ChartSeries = {
  label: string;
  /** A token of the theme. It only distinguishes series and has no meaning. */
  colour: (typeof seriesColours)[number];
  /** One per time; null is unknown and not drawn. */
  values: readonly (number | null)[];
};

export function TimeChart({
  caption,
  times,
  series,
  bars = false,
  height = 160,
  amount = countWords,
}: {
  caption: string;
  /** In milliseconds. */
  times: readonly number[];
  series: readonly ChartSeries[];
  /** Stacked bars instead of lines. */
  bars?: boolean;
  height?: number;
  /** Formats a value on the axis. */
  amount?: (value: number) => string;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = frame.current;
    if (element === null || times.length === 0) return undefined;
    let chart: uPlot | null = null;
    let gone = false;
    const watch = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }));
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot');
      if (gone) return;
      chart = new Plot(
        options({ Plot, series, bars, height, width: element.clientWidth, amount }),
        drawn(times, series, bars),
        element,
      );
      watch.observe(element);
    };
    void draw();
    return () => {
      gone = true;
      watch.disconnect();
      chart?.destroy();
    };
  }, [times, series, bars, height, amount, theme]);
  return (
    <figure className="min-w-0">
      {/* The drawing takes the width of its frame and never keeps it wide. */}
      <div ref={frame} aria-hidden="true" className="contain-inline-size" style={{ minHeight: height }} />
      <figcaption className="sr-only">{caption}</figcaption>
      <div className="sr-only">
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <th scope="row">{clockWords(time, Date.now())}</th>
                {series.map(({ label, values }) => (
                  <td key={label}>{values[index] ?? 'unknown'}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function shownTheme(): string {
  return document.documentElement.dataset['theme'] ?? 'light';
}

/** The current theme; a chart is redrawn when it changes. */
function useTheme(): string {
  const [theme, setTheme] = useState(shownTheme);
  useEffect(() => {
    const watch = new MutationObserver(() => setTheme(shownTheme()));
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => watch.disconnect();
  }, []);
  return theme;
}

/** Bars are stacked: each series is drawn as the sum with those before it, tallest first. */
function drawn(times: readonly number[], series: readonly ChartSeries[], bars: boolean): uPlot.AlignedData {
  const seconds = times.map((time) => time / 1000);
  if (!bars) return [seconds, ...series.map(({ values }) => [...values])];
  const sums = series.map((_, upTo) =>
    times.map((_time, index) =>
      series.slice(0, upTo + 1).reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
    ),
  );
  return [seconds, ...sums.toReversed()];
}

function options({
  Plot,
  series,
  bars,
  height,
  width,
  amount,
}: {
  Plot: typeof uPlot;
  series: readonly ChartSeries[];
  bars: boolean;
  height: number;
  width: number;
  amount: (value: number) => string;
}): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (token: string): string => style.getPropertyValue(`--${token}`).trim();
  const axis: uPlot.Axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '12px "Inter Variable", sans-serif',
  };
  const drawnSeries = (bars ? series.toReversed() : series).map(({ label, colour: token }) => ({
    label,
    stroke: colour(token),
    width: bars ? 0 : 1.5,
    points: { show: false },
    ...(bars && { fill: colour(token), paths: Plot.paths.bars?.({ size: [0.8, 40], align: 1 }) }),
  }));
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_chart, _least, most) => [0, Math.max(most, 1) * 1.05] } },
    axes: [
      { ...axis, size: 28, values: (_chart, ticks) => timeWords(ticks.map((tick) => tick * 1000)) },
      { ...axis, size: 52, space: 28, values: (_chart, ticks) => ticks.map(amount) },
    ],
    series: [{}, ...drawnSeries] as uPlot.Series[],
  };
}

/** The time at each tick, or the date at midnight. */
function timeWords(ticks: readonly number[]): string[] {
  const days = ticks.map((tick) =>
    new Date(tick).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }),
  );
  return ticks.map((tick, index) => {
    const clock = new Date(tick).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    return clock === '00:00' ? (days[index] ?? clock) : clock;
  });
}

export function ChartLegend({ series }: { series: readonly Pick<ChartSeries, 'label' | 'colour'>[] }) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-tiny text-muted">
      {series.map(({ label, colour }) => (
        <li key={label} className="flex items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2 rounded-full"
            style={{ background: `var(--${colour})` }}
          />
          {label}
        </li>
      ))}
    </ul>
  );
}
