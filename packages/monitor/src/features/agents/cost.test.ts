import { expect, test } from 'vitest';
import { logged } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { costOfWorker, costSummary, costText } from './cost.ts';

const scope = { orchestrator: 'run-1', ticket: 'ENG-42' };

function world() {
  const board = emptyBoard();
  let seq = 0;
  const fold = (event: string, detail: object): void => {
    seq += 1;
    foldLine(board, logged(seq, event, { scope, detail: { ...detail } }));
  };
  const base = {
    ...scope,
    workerName: 'w',
    startedAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  };
  fold('orchestrator.worker.status_changed', {
    to: 'implementing',
    signal: { ...base, status: 'implementing' },
  });
  const start = (attempt: number, more: object = {}): void =>
    fold('agent.session.started', { attempt, agent: 'a', protocol: true, sessionId: 's', ...more });
  const turn = (
    attempt: number,
    usd: number | null,
    tokens: [number, number] | null = null,
    ok = true,
  ): void =>
    fold('agent.turn.ended', {
      attempt,
      turn: seq,
      ok,
      cost: usd === null ? null : { amount: usd, currency: 'USD' },
      tokens: tokens && { input: tokens[0], output: tokens[1] },
    });
  const worker = () => board.workers.get('run-1/ENG-42');
  const cost = () => {
    const known = worker();
    return known === undefined ? null : costOfWorker(known);
  };
  return { fold, start, turn, cost, worker };
}

test('an agent that reports the cost of its process: attempts add up', () => {
  const { start, turn, cost } = world();
  expect(cost()).toBeNull();
  start(1);
  turn(1, 1);
  turn(1, 1.5);
  start(2);
  turn(2, 0.25);
  expect(cost()).toMatchObject({ usd: 1.75, estimated: false, partial: false });
});

test('an agent that reports the cost of its session over all processes: attempts do not add up', () => {
  const { start, turn, cost } = world();
  start(1, { costOf: 'session' });
  turn(1, 1);
  start(2, { costOf: 'session' });
  turn(2, 1.5);
  start(3, { costOf: 'session', sessionId: 'other' });
  turn(3, 0.25);
  expect(cost()?.usd).toBe(1.75);
});

test('attempts of a command line report the sum of one file', () => {
  const { fold, start, cost } = world();
  for (const [attempt, amount] of [
    [1, 1],
    [2, 1.5],
  ] as const) {
    start(attempt, { protocol: false });
    fold('agent.usage', { attempt, cost: { amount, currency: 'USD' } });
    fold('agent.usage', { attempt, cost: { amount, currency: 'USD' } });
  }
  expect(cost()?.usd).toBe(1.5);
});

test('what is not reported is estimated from tokens and the price of the model, and marked', () => {
  const { start, turn, cost } = world();
  start(1, { model: 'openai/gpt-5.5[high]' });
  turn(1, null, [1_000_000, 100_000]);
  expect(cost()).toMatchObject({ usd: 8, estimated: true, partial: false, inputTokens: 1_000_000 });
  expect(costText(cost())).toBe('≈$8.00');
});

test('a model without a price, and no tokens, are unknown; a known part is a lower bound', () => {
  const { start, turn, cost } = world();
  start(1, { model: 'new-model' });
  turn(1, null, [1_000, 10]);
  expect(cost()).toMatchObject({ usd: null, estimated: false, inputTokens: 1_000 });
  expect(costText(cost())).toBe('unknown');
  start(2);
  turn(2, 2);
  start(3);
  turn(3, null);
  expect(cost()).toMatchObject({ usd: 2, partial: true });
  expect(costText(cost())).toBe('at least $2.00');
});

test('a refused turn is not an unknown cost, another currency is', () => {
  const { fold, start, turn, cost } = world();
  start(1);
  turn(1, null, null, false);
  expect(cost()).toBeNull();
  fold('agent.turn.ended', { attempt: 1, turn: 9, ok: true, cost: { amount: 3, currency: 'EUR' } });
  expect(cost()).toMatchObject({ usd: null });
});

test('the cost of each day', () => {
  const { start, turn, worker } = world();
  start(1);
  turn(1, 1);
  turn(1, 1.5);
  expect(worker()?.spent.days).toEqual([{ day: expect.stringMatching(/^2026-/), usd: 1.5 }]);
});

test('per ticket, and per shipped ticket: all of it for what shipped', () => {
  const cost = (usd: number | null) => ({
    usd,
    estimated: false,
    partial: false,
    inputTokens: null,
    outputTokens: null,
  });
  const summary = costSummary([
    { status: 'done', cost: cost(2) },
    { status: 'failed', cost: cost(4) },
    { status: 'done', cost: cost(null) },
  ]);
  expect(summary).toMatchObject({
    tickets: 3,
    shipped: 2,
    perTicket: { usd: 3 },
    perShipped: { usd: 3, partial: true },
  });
  expect(costSummary([{ status: 'failed', cost: null }])).toMatchObject({
    perTicket: null,
    perShipped: null,
  });
});
