// Tests the lifecycle against a judge that shares no code with it, on random tapes of facts. MODEL_SEQUENCES sets how
// many, MODEL_SEED the first seed; a failure prints the seed and the shortest tape found.
import { expect, test } from 'vitest';
import { deployStep } from './lifecycle.ts';
import { faults } from './testing/faults.ts';
import { arrows, judge, type Step } from './testing/judge.ts';
import { randomTape, seededRandom, type Tape } from './testing/random-tape.ts';

const SEQUENCES = Number(process.env['MODEL_SEQUENCES'] ?? 5000);
const SEED = Number(process.env['MODEL_SEED'] ?? 1);
/** Enough tapes to find each planted fault. */
const TAPES_FOR_A_FAULT = 1500;

type Found = { complaint: string; seed: number; tape: Tape };

/** The first complaint, or the first that equals `wanted`. */
function findComplaint(step: Step, first: number, sequences: number, wanted?: string): Found | null {
  for (let seed = first; seed < first + sequences; seed++) {
    const tape = randomTape(seededRandom(seed));
    const { complaint } = judge(step, tape);
    if (complaint !== null && (wanted ?? complaint) === complaint) return { complaint, seed, tape };
  }
  return null;
}

/** Removes every entry that is not needed for the complaint. */
function shortened(step: Step, { complaint, tape }: Found): Tape {
  for (const entry of tape.entries) {
    const without = { ...tape, entries: tape.entries.filter((other) => other !== entry) };
    if (judge(step, without).complaint === complaint)
      return shortened(step, { complaint, seed: 0, tape: without });
  }
  return tape;
}

test(`the lifecycle keeps its promises on ${SEQUENCES} random tapes`, () => {
  expect(SEQUENCES).toBeGreaterThan(0);
  const started = performance.now();
  const found = findComplaint(deployStep, SEED, SEQUENCES);
  if (found !== null) {
    const { policy, entries } = shortened(deployStep, found);
    expect.fail(`${found.complaint} (seed ${found.seed}) ${JSON.stringify({ policy, entries }, null, 1)}`);
  }
  if (process.env['MODEL_SEQUENCES'] !== undefined)
    console.log(`${SEQUENCES} tapes in ${((performance.now() - started) / 1000).toFixed(1)} s`);
});

test('the tapes cover every allowed move', () => {
  const made = new Set<string>();
  for (let seed = 1; seed <= TAPES_FOR_A_FAULT; seed++)
    for (const move of judge(deployStep, randomTape(seededRandom(seed))).arrows) made.add(move);
  expect([...made].toSorted()).toEqual([...arrows].toSorted());
});

test.each(Object.entries(faults))('the judge finds a function that %s', (_, { step, complaint }) => {
  expect(findComplaint(step, 1, TAPES_FOR_A_FAULT, complaint)?.complaint).toBe(complaint);
});

test('finds the shortest tape for a complaint', () => {
  const step = faults['ignores the environment']?.step ?? deployStep;
  const found = findComplaint(step, 1, TAPES_FOR_A_FAULT, 'deploying by a foreign deployment');
  if (found === null) return expect.fail('no complaint');
  // The merge, and a start of a deployment to another environment.
  expect(shortened(step, found).entries.map(({ fact }) => fact.kind)).toEqual(['merged', 'deployment']);
});
