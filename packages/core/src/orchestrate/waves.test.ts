import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BlockedTicket, wavesFromBlockers } from './waves.ts';

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
