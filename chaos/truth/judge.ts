// Plays one world against the product in this process and compares its answers with the model after every step.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compare, type Difference, findStuck, type Kind } from './answers.ts';
import { createModel, type Model } from './model.ts';
import { type Fault, playInProcess } from './process.ts';
import type { World } from './steps.ts';
import { createWorld } from './world.ts';

/** The differences of the first step that has one. */
async function judgeIn(home: string, { steps }: World, model: Model, fault?: Fault): Promise<Difference[]> {
  const product = await playInProcess(home, fault);
  try {
    for (const step of steps) {
      model.apply(step);
      const differences = [...(await product.play(step)), ...compare(model, product.answers())];
      if (differences.length > 0) return differences;
    }
    return findStuck(model, product.answers());
  } catch (error) {
    return [{ kind: 'crash', text: error instanceof Error ? (error.stack ?? error.message) : String(error) }];
  } finally {
    await product.close();
  }
}

export interface Judge {
  /** `model` has followed the world as far as it was played. */
  judge: (world: World, fault?: Fault, model?: Model) => Promise<Difference[]>;
}

export function createJudge(folder: string): Judge {
  let homes = 0;
  return {
    async judge(world, fault, model = createModel()) {
      homes += 1;
      const home = join(folder, String(homes));
      const differences = await judgeIn(home, world, model, fault);
      rmSync(home, { recursive: true, force: true });
      return differences;
    },
  };
}

export interface Findings {
  worlds: number;
  steps: number;
  /** Workers at the end: proved, not proved, or left open by the rules. */
  proved: number;
  unproved: number;
  open: number;
  counts: Partial<Record<Kind, number>>;
  /** The first world of each kind, up to the given number. */
  examples: { seed: number; kind: Kind }[];
}

export function noFindings(): Findings {
  return { worlds: 0, steps: 0, proved: 0, unproved: 0, open: 0, counts: {}, examples: [] };
}

/** Worlds from the seed on. */
export async function judgeWorlds(
  { judge }: Judge,
  {
    seed: first,
    worlds,
    examples = 1,
    fault,
  }: { seed: number; worlds: number; examples?: number; fault?: () => Fault },
): Promise<Findings> {
  const findings: Findings = { ...noFindings(), worlds };
  for (let seed = first; seed < first + worlds; seed += 1) {
    const world = createWorld(seed);
    findings.steps += world.steps.length;
    const model = createModel();
    const differences = await judge(world, fault?.(), model);
    for (const { isDone } of model.workers())
      findings[isDone.isCertain ? 'proved' : isDone.isPossible ? 'open' : 'unproved'] += 1;
    for (const kind of new Set(differences.map((difference) => difference.kind))) {
      const count = (findings.counts[kind] ?? 0) + 1;
      findings.counts[kind] = count;
      if (count <= examples) findings.examples.push({ seed, kind });
    }
  }
  return findings;
}
