// A counter with labels for hot paths: a number in a map, handed to Prometheus only when it is asked for.
import { Counter, type Registry } from 'prom-client';

export type Tally<Label extends string> = { add: (labels: Readonly<Record<Label, string | number>>) => void };

export function createTally<Label extends string>(
  registry: Registry,
  options: { name: string; help: string; labelNames: readonly Label[] },
): Tally<Label> {
  const { name, help, labelNames } = options;
  const counts = new Map<string, number>();
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const values = key.split('\n');
          const labels = labelNames.map((label, index) => [label, values[index] ?? ''] as const);
          this.inc(Object.fromEntries(labels) as Record<Label, string>, count);
        }
      },
    }),
  );
  return {
    add(labels) {
      let key = '';
      for (const label of labelNames) key = key === '' ? String(labels[label]) : `${key}\n${labels[label]}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}
