import { expect, test } from 'vitest';
import { chartOf, countsOf } from './backend-panels.tsx';

test('all series share one time axis; a missing value is unknown, not zero', () => {
  const answer = {
    data: {
      result: [
        {
          metric: { type: 'input' },
          values: [
            [10, '1'],
            [20, '2'],
          ] as [number, string][],
        },
        { metric: { type: 'output' }, values: [[20, '5.5']] as [number, string][] },
      ],
    },
  };
  const chart = chartOf(answer, 'type');
  expect(chart.times).toEqual([10_000, 20_000]);
  expect(chart.series.map(({ label, values }) => [label, values])).toEqual([
    ['input', [1, 2]],
    ['output', [null, 5.5]],
  ]);
  expect(chart.total).toBe(8.5);
});

test('an empty response has no data', () => {
  expect(chartOf({}, null)).toEqual({ times: [], series: [], total: 0 });
  expect(countsOf({}, 'tool_name')).toEqual([]);
});

test('a field is read from the labels or from the line', () => {
  const answer = {
    data: {
      result: [
        {
          stream: { tool_name: 'Bash' },
          values: [
            ['1', 'claude_code.tool_result'],
            ['2', 'claude_code.tool_result'],
          ] as [string, string][],
        },
        {
          stream: {},
          values: [
            ['3', '{"tool_name":"Edit"}'],
            ['4', '{broken'],
            ['5', 'plain'],
          ] as [string, string][],
        },
      ],
    },
  };
  expect(countsOf(answer, 'tool_name')).toEqual([
    { value: 'Bash', count: 2 },
    { value: 'unknown', count: 2 },
    { value: 'Edit', count: 1 },
  ]);
});
