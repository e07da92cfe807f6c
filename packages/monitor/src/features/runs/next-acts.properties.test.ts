// Random worlds, in which a daemon that gets killed executes some of the acts, at any time.
import { sampleWorker } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextActs } from './next-acts.ts';
import { type NewWorker, quickTimings, type SimulatedRun, simulateRuns } from './testing/simulated-runs.ts';

const newWorker: NewWorker = (orchestrator, ticket, at) =>
  sampleWorker({ orchestrator, ticket, status: 'dispatched', statusSince: at, lastAt: at });

const anyRun = (id: string) =>
  fc.record({
    id: fc.constant(id),
    project: fc.constantFrom('/p', '/q'),
    most: fc.integer({ min: 1, max: 4 }),
    waves: fc
      .uniqueArray(fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'), { minLength: 1 })
      .chain((tickets) =>
        fc.array(fc.nat(2), { minLength: tickets.length, maxLength: tickets.length }).map((cuts) => {
          const waves: string[][] = [];
          for (const [index, ticket] of tickets.entries()) {
            const last = waves.at(-1);
            if (last === undefined || cuts[index] === 0) waves.push([ticket]);
            else last.push(ticket);
          }
          return waves;
        }),
      ),
  });
const anyRuns: fc.Arbitrary<SimulatedRun[]> = fc
  .tuple(anyRun('run-1'), anyRun('run-2'), anyRun('run-3'))
  .chain((runs) => fc.integer({ min: 1, max: 3 }).map((count) => runs.slice(0, count)));

/** Repeatable random numbers: a small generator with a seed. */
function chance(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

test('never too many, never twice, never too early, and always finishes', () => {
  fc.assert(
    fc.property(
      anyRuns,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0 }),
      fc.integer({ min: 0, max: 300 }),
      (runs, projectMost, seed, steps) => {
        const choose = chance(seed);
        const simulated = simulateRuns({ runs, projectMost, newWorker, choose });
        const { world, carryOut, happen, goWell, isOver, problems } = simulated;
        for (let step = 0; step < steps; step += 1) {
          happen();
          const acts = nextActs(world(), quickTimings);
          // Killed in the middle: only the first of them are executed.
          for (const act of acts.slice(0, choose(4) === 0 ? choose(acts.length + 1) : acts.length))
            carryOut(act);
          expect(problems).toEqual([]);
        }
        let rounds = 0;
        while (!isOver() && rounds < 600) {
          goWell();
          for (const act of nextActs(world(), quickTimings)) carryOut(act);
          rounds += 1;
        }
        expect(problems).toEqual([]);
        expect(isOver()).toBe(true);
        // What still runs of a run that is over is ended, once.
        for (const act of nextActs(world(), quickTimings)) carryOut(act);
        expect(problems).toEqual([]);
        expect(nextActs(world(), quickTimings)).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

test('the same world gives the same acts, and computing them changes nothing', () => {
  fc.assert(
    fc.property(anyRuns, fc.integer({ min: 0 }), (runs, seed) => {
      const choose = chance(seed);
      const { world, carryOut, happen } = simulateRuns({ runs, projectMost: 2, newWorker, choose });
      for (let step = 0; step < 60; step += 1) {
        happen();
        const before = structuredClone(world());
        const acts = nextActs(world(), quickTimings);
        expect(nextActs({ ...world(), runs: world().runs.toReversed() }, quickTimings)).toEqual(acts);
        expect(world()).toEqual(before);
        for (const act of acts) carryOut(act);
      }
    }),
    { numRuns: 40 },
  );
});
