// Options of chaos and bench scripts: numbers with a default, and flags; an unknown one is refused.
import { parseArgs } from 'node:util';

type Options = Record<string, number | boolean>;
type Widened<T extends Options> = { [Name in keyof T]: T[Name] extends number ? number : boolean };

/** `scriptOptions({ deliveries: 50_000, sabotage: false })` reads `--deliveries 100 --sabotage`. */
export function scriptOptions<T extends Options>(defaults: T): Widened<T> {
  const entries = Object.entries(defaults);
  const { values } = parseArgs({
    options: Object.fromEntries(
      entries.map(
        ([name, value]) => [name, { type: typeof value === 'number' ? 'string' : 'boolean' }] as const,
      ),
    ),
  });
  const read = entries.map(([name, value]) => {
    const given = values[name];
    if (given === undefined || typeof given === 'boolean') return [name, given ?? value];
    if (given === '' || !Number.isFinite(Number(given))) throw new Error(`--${name} must be a number`);
    return [name, Number(given)];
  });
  return Object.fromEntries(read);
}
