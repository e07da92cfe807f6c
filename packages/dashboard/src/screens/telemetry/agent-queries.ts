// The queries for the metrics and log backends: what the default agent program exports (counters in Prometheus, events
// in Loki). For other programs these panels show that there is no data.
import { usdText } from 'svc-monitor/src/features/agents/cost.ts';
import { countWords } from '../../parts/format.ts';

export type MetricsPanel = {
  title: string;
  query: string;
  amount: (value: number) => string;
  by: string | null;
};

/** Over windows of the step, so a bar shows what was spent in it. */
export const metricsPanels = (step: string): MetricsPanel[] => [
  {
    title: 'Cost over time',
    query: `sum(increase(claude_code_cost_usage_USD_total[${step}]))`,
    amount: usdText,
    by: null,
  },
  {
    title: 'Tokens over time',
    query: `sum by (type) (increase(claude_code_token_usage_tokens_total[${step}]))`,
    amount: countWords,
    by: 'type',
  },
];

export type LogsPanel = { title: string; query: string; field: string; empty: string };

export const logsPanels: LogsPanel[] = [
  {
    title: 'Tool usage',
    query: '{service_name="claude-code"} |= "tool_result"',
    field: 'tool_name',
    empty: 'No tools used in this period.',
  },
  {
    title: 'API errors',
    query: '{service_name="claude-code"} |= "api_error"',
    field: 'error',
    empty: 'No API errors in this period.',
  },
];
