import { expect, test } from 'vitest';
import { costOfDay, dayBudgets, leftWords, perShippedWords, spendByAgent } from './today.tsx';

const cost = (usd: number | null) => ({
  usd,
  inputTokens: null,
  outputTokens: null,
  estimated: false,
  partial: false,
});
const day = '2026-11-09';
const runs = new Map([
  ['new', { startedAt: '2026-11-09T07:00:00.000Z' }],
  ['old', { startedAt: '2026-11-08T07:00:00.000Z' }],
]);
const worker = (orchestrator: string, given: object) =>
  ({ orchestrator, cost: cost(5), lastAt: '2026-11-09T09:00:00.000Z', ...given }) as never;

test.each([
  ['by day', [worker('old', { costByDay: [{ day, usd: 2 }] })], { usd: 2, partial: false }],
  ['of a run that began today', [worker('new', {})], { usd: 5, partial: false }],
  ['of an older run, only a total', [worker('old', {}), worker('new', {})], { usd: 5, partial: true }],
  ['of an older run alone', [worker('old', {})], { usd: null }],
  ['of yesterday', [worker('old', { lastAt: '2026-11-08T09:00:00.000Z' })], { usd: 0 }],
  ['of nobody', [], { usd: 0, partial: false }],
])('the cost today, %s', (_what, workers, sum) => expect(costOfDay(workers, runs, day)).toMatchObject(sum));

test('the most expensive agent is first, and an unknown cost is not zero', () => {
  const rows = spendByAgent([
    { agent: { name: 'codex' }, cost: cost(1) },
    { agent: { name: 'claude' }, cost: cost(4) },
    { agent: { name: 'codex' }, cost: null },
  ] as never);
  expect(rows).toMatchObject([
    { agent: 'claude', tickets: 1, cost: { usd: 4, partial: false } },
    { agent: 'codex', tickets: 2, cost: { usd: 1, partial: true } },
  ]);
});

test('the budget of the day of every project', () => {
  const projects = [
    { id: 'web', name: 'Shop', folder: '/src/web' },
    { id: '/src/api', name: null, folder: '/src/api' },
  ];
  const report = (project: string | null, value: unknown) => ({
    project,
    projects,
    values: [{ key: 'svc.orchestration.budget.dayUsd', value }],
  });
  expect(dayBudgets([report('web', 20), report('/src/api', null), report(null, 5)])).toEqual([
    { folder: '/src/web', name: 'Shop', usd: 20 },
    { folder: '/src/api', name: '/src/api', usd: null },
    { folder: null, name: '', usd: 5 },
  ]);
});

test.each([
  [0, 0, 'All tickets'],
  [2, 0, 'All tickets; none has shipped yet'],
  [2, 1, 'All tickets; per shipped one: $5.00'],
])('of %s tickets %s shipped: %s', (tickets, shipped, words) =>
  expect(perShippedWords({ tickets, shipped, perShipped: shipped === 0 ? null : cost(5) })).toBe(words),
);

const sum = { usd: 7, estimated: false, partial: false };
test.each([
  [20, sum, '$13.00'],
  [20, { ...sum, partial: true }, 'at most $13.00'],
  [5, sum, '$0.00'],
  [20, { ...sum, usd: null }, 'unknown'],
  [null, sum, 'No budget'],
  [undefined, sum, 'unknown'],
])('of a budget of %s after %j is left: %s', (budget, spent, words) =>
  expect(leftWords(budget, spent)).toBe(words),
);
