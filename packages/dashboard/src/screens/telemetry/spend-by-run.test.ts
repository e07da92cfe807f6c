import { expect, test } from 'vitest';
import { spendByRun } from './spend.tsx';

test('the most expensive run is first; what no worker reported is unknown, and its run stays', () => {
  const cost = (usd: number | null) => ({
    usd,
    inputTokens: 100,
    outputTokens: null,
    estimated: usd === 3,
    partial: false,
  });
  expect(
    spendByRun([
      { orchestrator: 'a', cost: cost(1) },
      { orchestrator: 'b', cost: cost(3) },
      { orchestrator: 'b', cost: cost(0.5) },
      { orchestrator: 'b', cost: null },
      { orchestrator: 'c', cost: cost(null) },
    ]),
  ).toEqual([
    { run: 'b', usd: 3.5, inputTokens: 200, outputTokens: 0, reported: 2, unknown: 1, estimated: true },
    { run: 'a', usd: 1, inputTokens: 100, outputTokens: 0, reported: 1, unknown: 0, estimated: false },
    {
      run: 'c',
      usd: null,
      inputTokens: null,
      outputTokens: null,
      reported: 0,
      unknown: 1,
      estimated: false,
    },
  ]);
});
