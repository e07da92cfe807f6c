import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nothingSpent, type Spent } from '../workers/agent-fields.ts';
import { type Budgets, budgetStop, type Spender, spentNow, unknownSpenders } from './budget.ts';
import { spentAfter } from './cost.ts';
import { newAgentSession } from './session.ts';

const now = '2026-11-16T14:00:00.000Z';
const none: Budgets = { ticketUsd: null, runUsd: null, dayUsd: null };

function spender(ticket: string, spent: Spent, orchestrator = 'run-1'): Spender {
  return { orchestrator, ticket, spent, signal: null };
}
const cost = (usd: number | null, at = now, before = nothingSpent, attempt = 1): Spent =>
  spentAfter(before, { attempt, sum: null, usd, tokens: null, model: null }, at);

test('a budget is reached when the known cost is', () => {
  const spenders = [spender('A', cost(2)), spender('B', cost(3)), spender('A', cost(10), 'run-2')];
  const stop = (ticket: string | null, budgets: Partial<Budgets>) =>
    budgetStop(spenders, { orchestrator: 'run-1', ticket }, { ...none, ...budgets }, now);
  expect(stop('A', none)).toBeNull();
  expect(stop('A', { ticketUsd: 2.01, runUsd: 5.01, dayUsd: 15.01 })).toBeNull();
  expect(stop('A', { ticketUsd: 2 })).toMatchObject({ ticket: 'A' });
  expect(stop(null, { ticketUsd: 2 })).toBeNull();
  expect(stop('A', { runUsd: 5 })).toEqual({
    ticket: null,
    message:
      'The budget of the run run-1 is used up: $5.00 of $5.00. A turn that runs may end, no further one is started',
    remedy: 'svc config set svc.orchestration.budget.runUsd <amount>',
  });
  expect(stop(null, { dayUsd: 15 })?.message).toContain('for 2026-11-16');
});

test('a day counts what was spent on it', () => {
  const yesterday = cost(9, '2026-11-15T23:59:59.000Z');
  const spenders = [spender('A', cost(11, now, yesterday))];
  const stop = (dayUsd: number) =>
    budgetStop(spenders, { orchestrator: 'run-1', ticket: 'A' }, { ...none, dayUsd }, now);
  expect([stop(2), stop(2.01)]).toEqual([expect.anything(), null]);
});

test('unknown costs never reach a budget, and are named; an estimate counts and is marked', () => {
  const estimate = spentAfter(
    nothingSpent,
    { attempt: 1, sum: null, usd: null, tokens: { input: 1_000_000, output: 0 }, model: 'gpt-5.5' },
    now,
  );
  const spenders = [spender('A', cost(null)), spender('B', estimate)];
  expect(unknownSpenders(spenders, 'run-1')).toEqual(['A']);
  const stop = budgetStop(spenders, { orchestrator: 'run-1', ticket: 'A' }, { ...none, runUsd: 1 }, now);
  expect(stop?.message).toContain('at least ≈$5.00 of $1.00');
});

test('what a session has reported counts before the log has it', () => {
  const session = { ...newAgentSession, cost: { amount: 4, currency: 'USD' } };
  expect(spentNow(cost(3), 1, session, now)).toMatchObject({ attempts: [{ usd: 4 }], days: [{ usd: 4 }] });
  expect(spentNow(cost(3), 2, session, now).attempts).toHaveLength(2);
});

const anyTurns = fc.array(
  fc.record({
    agent: fc.nat(3),
    cents: fc.integer({ min: 1, max: 500 }),
    starts: fc.boolean(),
    dies: fc.nat(9),
  }),
  { maxLength: 60 },
);

test('whatever agents do, no budget is exceeded by more than the turns that run', () => {
  fc.assert(
    fc.property(
      anyTurns,
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 1, max: 2_000 }),
      (turns, run, ticket) => {
        const budgets: Budgets = { ticketUsd: ticket / 100, runUsd: run / 100, dayUsd: run / 100 };
        const agents = ['A', 'B', 'C', 'D'].map((name) => ({
          name,
          spent: nothingSpent,
          attempt: 1,
          usd: 0,
          running: 0,
          last: 0,
        }));
        const spenders = () => agents.map(({ name, spent }) => spender(name, spent));
        for (const { agent: index, cents, starts, dies } of turns) {
          const agent = agents[index];
          if (agent === undefined) continue;
          if (agent.running > 0) {
            // Its turn ends, with its cost.
            agent.usd += agent.running;
            agent.last = agent.running;
            agent.running = 0;
            agent.spent = cost(agent.usd, now, agent.spent, agent.attempt);
            if (dies === 0) Object.assign(agent, { attempt: agent.attempt + 1, usd: 0 });
          } else if (
            starts &&
            budgetStop(spenders(), { orchestrator: 'run-1', ticket: agent.name }, budgets, now) === null
          )
            agent.running = cents / 100;
        }
        const total = (spent: Spent) => spent.attempts.reduce((sum, { usd }) => sum + (usd ?? 0), 0);
        for (const { spent, last } of agents) expect(total(spent)).toBeLessThan(ticket / 100 + last + 1e-9);
        const all = agents.reduce((sum, { spent }) => sum + total(spent), 0);
        const atMost = agents.reduce((sum, { last }) => sum + last, 0);
        expect(all).toBeLessThan(run / 100 + atMost + 1e-9);
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 300) },
  );
});
