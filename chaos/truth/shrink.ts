// Leaves out steps of a world while it still shows the same kind of difference: first large parts, then single steps.
import type { Step, World } from './steps.ts';

export async function shrunk(world: World, stillFails: (world: World) => Promise<boolean>): Promise<World> {
  // Every world ends with a restart and a poll: without them nothing is stuck yet.
  const end = world.steps.slice(-2);
  let steps = world.steps.slice(0, -2);
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = steps.length - size; from > -size; from -= size) {
      const without = steps.toSpliced(Math.max(0, from), from < 0 ? size + from : size);
      if (await stillFails({ ...world, steps: [...without, ...end] })) steps = without;
    }
  }
  return { ...world, steps: [...steps, ...end] };
}

/** One step on a line, with its kind first. */
export function describeStep(step: Step): string {
  const { do: kind, ...rest } = step;
  const texts = Object.entries(rest)
    .filter(([name]) => name !== 'fact' || kind === 'deliver')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const number = 'fact' in step && kind !== 'deliver' ? ` ${step.fact}` : '';
  return `${kind}${number} ${texts.join(', ')}`.trim();
}
