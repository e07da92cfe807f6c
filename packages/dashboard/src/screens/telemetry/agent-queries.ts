// What is asked of the metrics and log backends: the figures that the default agent program exports (its
// counters in Prometheus, its events in Loki). Other programs export others; then these panels say that there is
// nothing.
import { costWords, countWords } from '../../parts/amount-words.ts';

export type MetricsPanel = {
  title: string;
  query: string;
  amount: (value: number) => string;
  by: string | null;
};

/** Over windows of the step, so that a bar is what was spent in it. */
export const metricsPanels = (step: string): MetricsPanel[] => [
  {
    title: 'Cost of the agents',
    query: `sum(increase(claude_code_cost_usage_USD_total[${step}]))`,
    amount: costWords,
    by: null,
  },
  {
    title: 'Tokens of the agents',
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
    empty: 'No tool was used in this time.',
  },
  {
    title: 'API errors',
    query: '{service_name="claude-code"} |= "api_error"',
    field: 'error',
    empty: 'No API error in this time.',
  },
];
