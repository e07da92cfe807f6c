// Which kind of fact a topic tells, and the colour of its kind in the chart. The colours mean nothing: they only
// tell the kinds apart, and the legend names them.
import type { ChartSeries } from '../../parts/time-chart.tsx';

export const familyColours: Record<string, ChartSeries['colour']> = {
  codehost: 'series-1',
  tracker: 'series-2',
  orchestrator: 'series-3',
  workflow: 'series-4',
  comms: 'series-5',
  monitor: 'series-2',
  feedback: 'series-3',
  archive: 'series-4',
};
