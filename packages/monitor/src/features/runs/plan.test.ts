import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BlockedTicket } from '../tracker/dependencies.ts';
import { MOST_TICKETS, MOST_WAVES, readPlan, ticketProblem, wavesFromBlockers } from './plan.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `A-${index}`);

test.each([
  [{ tickets: ['A-1', 'A-2'] }, [['A-1', 'A-2']]],
  [{ waves: [['A-1'], ['A-3', 'A-2']] }, [['A-1'], ['A-3', 'A-2']]],
  [{ file: { tickets: ['A-1'] } }, [['A-1']]],
  [{ file: { waves: [['A-1'], ['A-2']] } }, [['A-1'], ['A-2']]],
  [
    { file: { tickets: [{ ticket: 'A-2', blockedBy: ['A-1'] }, { ticket: 'A-1' }, 'A-3'] } },
    [['A-1', 'A-3'], ['A-2']],
  ],
])('%j', (input, waves) => {
  expect(readPlan(input)).toMatchObject({ ok: true, plan: { waves } });
});

test('the blockers of tickets stay in the plan, unless there are too many', () => {
  const planOf = (tickets: object[]) => readPlan({ file: { tickets } });
  expect(planOf([{ ticket: 'A-2', blockedBy: ['A-1'] }, { ticket: 'A-1' }])).toMatchObject({
    plan: { blockedBy: { 'A-2': ['A-1'] } },
  });
  expect(planOf([{ ticket: 'A-1' }])).toEqual({ ok: true, plan: { waves: [['A-1']] } });
  const first = names(60);
  const second = names(60).map((name) => ({ ticket: `B${name}`, blockedBy: first }));
  expect(planOf([...first.map((ticket) => ({ ticket })), ...second])).toEqual({
    ok: true,
    plan: { waves: [first, second.map(({ ticket }) => ticket)] },
  });
});

test('a ticket may have an agent', () => {
  const tickets = [{ ticket: 'A-2', blockedBy: ['A-1'], agent: 'codex' }, { ticket: 'A-1' }, 'A-3'];
  expect(readPlan({ file: { tickets } })).toMatchObject({ plan: { agents: { 'A-2': 'codex' } } });
});

test.each([
  [{ tickets: [] }, 'tickets: is empty'],
  [{ waves: [] }, 'waves: is empty'],
  [{ waves: [['A-1'], []] }, 'waves[1]: is empty'],
  [{ tickets: ['A-1', 'a-1'] }, 'tickets[1]: a-1 is already listed, at tickets[0]'],
  [{ waves: [['A-1'], ['B', 'A-1']] }, 'waves[1][1]: A-1 is already listed, at waves[0][0]'],
  [{ tickets: names(MOST_TICKETS + 1) }, 'tickets: has more than 500 tickets'],
  [{ waves: [names(300), names(300).map((name) => `B${name}`)] }, 'waves: has more than 500 tickets'],
  [{ waves: names(MOST_WAVES + 1).map((name) => [name]) }, 'waves: needs 201 consecutive waves'],
  [{ file: null }, 'plan: is not an object'],
  [{ file: ['A-1'] }, 'plan: is not an object'],
  [{ file: {} }, 'plan: has neither'],
  [{ file: { tickets: ['A-1'], waves: [['A-1']] } }, 'plan: has both'],
  [{ file: { tickets: ['A-1'], base: 'main' } }, '"base": is unknown'],
  [{ file: { tickets: 'A-1' } }, 'tickets: is not a list'],
  [{ file: { waves: ['A-1'] } }, 'waves[0]: is not a list of tickets'],
  [{ file: { tickets: [7] } }, 'tickets[0]: is not a string'],
  [{ file: { tickets: [{ blockedBy: [] }] } }, 'tickets[0].ticket: is not a string'],
  [{ file: { tickets: [{ ticket: 'A-1', blocks: [] }] } }, 'tickets[0]."blocks": is unknown'],
  [{ file: { tickets: [{ ticket: 'A-1', blockedBy: 'A-2' }] } }, 'tickets[0].blockedBy: is not a list'],
  [{ file: { tickets: [{ ticket: 'A-1', agent: '../x' }] } }, 'tickets[0].agent: "../x" is not the name'],
  [{ file: { tickets: [{ ticket: 'A-1', agent: null }] } }, 'tickets[0].agent: null is not the name'],
  [{ file: { tickets: [{ ticket: 'A-1', blockedBy: ['A-9'] }] } }, '"A-9" is not in this plan'],
  [{ file: { tickets: [{ ticket: 'A-1', blockedBy: [4] }] } }, 'tickets[0].blockedBy[0]: 4 is not in'],
  [
    {
      file: {
        tickets: [
          { ticket: 'A-1', blockedBy: ['A-2'] },
          { ticket: 'A-2', blockedBy: ['A-1'] },
        ],
      },
    },
    'tickets: the tickets block each other in a cycle: A-1 → A-2 → A-1',
  ],
])('refused: %j', (input, words) => {
  const read = readPlan(input);
  expect(read.ok).toBe(false);
  const problems = read.ok ? [] : read.problems.map(({ place, problem }) => `${place}: ${problem}`);
  expect(problems.join('\n')).toContain(words);
});

test('every problem is listed, up to a limit', () => {
  const read = readPlan({ tickets: ['A-1', ...names(200).map((name) => ` ${name}`)] });
  expect(!read.ok && read.problems).toHaveLength(51);
  expect(!read.ok && read.problems.at(-1)?.problem).toBe('has 150 more problems');
});

test.each([
  '',
  '.',
  '..',
  'a..b',
  '-rf',
  '../x',
  'a/b',
  'a b',
  'a\nb',
  '$(id)',
  "a'b",
  'a"b',
  'a.lock',
  'a.',
  'HEAD',
  'é-1',
  'x'.repeat(121),
])('%j is not a ticket', (text) => {
  expect(ticketProblem(text)).toEqual(expect.any(String));
});

test.each(['A-1', 'eng-42', 'a.b_c', '7', 'x'.repeat(120)])('%s is a ticket', (text) => {
  expect(ticketProblem(text)).toBeUndefined();
});

test('any file is read or rejected, without an exception', () => {
  const isAnswer = (file: unknown): boolean => {
    const read = readPlan({ file });
    return read.ok ? read.plan.waves.every((wave) => wave.length > 0) : read.problems.length > 0;
  };
  expect(() => fc.assert(fc.property(fc.jsonValue(), isAnswer))).not.toThrow();
});

const graph = (text: string): BlockedTicket[] =>
  text.split(' ').map((part) => {
    const [ticket = '', blockers = ''] = part.split('<');
    return { ticket, blockedBy: blockers === '' ? [] : blockers.split(',') };
  });

test.each([
  ['A', [['A']]],
  ['A B C', [['A', 'B', 'C']]],
  ['C<B B<A A', [['A'], ['B'], ['C']]],
  // The longest path counts.
  ['A B<A C<A,B D<A', [['A'], ['B', 'D'], ['C']]],
  ['A<X B', [['A', 'B']]],
  ['A B<A,A', [['A'], ['B']]],
])('%s', (text, waves) => {
  expect(wavesFromBlockers(graph(text))).toEqual({ ok: true, waves });
});

test.each([
  ['A-1<A-2 A-2<A-1', 'A-1 → A-2 → A-1'],
  ['A-1<A-1', 'A-1 → A-1'],
  // The first ticket leads into the cycle and is not part of it.
  ['A-0<A-1 A-1<A-2 A-2<A-3 A-3<A-1', 'A-1 → A-2 → A-3 → A-1'],
])('%s is a cycle, with its tickets', (text, circle) => {
  expect(wavesFromBlockers(graph(text))).toEqual({
    ok: false,
    cycle: circle.split(' → '),
    problem: `the tickets block each other in a cycle: ${circle}`,
  });
});

test('any graph: each ticket once, right after the last of its blockers; or a cycle that exists', () => {
  const anyGraph = fc.integer({ min: 1, max: 30 }).chain((size) =>
    fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 60 }).map((edges) =>
      Array.from({ length: size }, (_, index) => ({
        ticket: `T-${index}`,
        blockedBy: edges.filter(([ticket]) => ticket === index).map(([, blocker]) => `T-${blocker}`),
      })),
    ),
  );
  fc.assert(
    fc.property(anyGraph, (tickets) => {
      const blockedBy = new Map(tickets.map((one) => [one.ticket, one.blockedBy]));
      const result = wavesFromBlockers(tickets);
      if (!result.ok) {
        expect(result.cycle.length).toBeGreaterThan(1);
        expect(result.cycle.at(0)).toBe(result.cycle.at(-1));
        for (const [index, ticket] of result.cycle.slice(0, -1).entries())
          expect(blockedBy.get(ticket)).toContain(result.cycle[index + 1]);
        return;
      }
      const waveOf = new Map(result.waves.flatMap((wave, index) => wave.map((ticket) => [ticket, index])));
      expect(result.waves.flat()).toHaveLength(tickets.length);
      for (const { ticket, blockedBy: blockers } of tickets)
        expect(waveOf.get(ticket)).toBe(Math.max(-1, ...blockers.map((name) => waveOf.get(name) ?? 0)) + 1);
    }),
  );
});
