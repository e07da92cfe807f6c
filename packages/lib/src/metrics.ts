// Metrics in Prometheus format that are read on each scrape.
import { Counter, Gauge, type Registry } from 'prom-client';

type Registered = { registry: Registry };

/** A counter with labels for hot paths: a number in a map, passed to Prometheus only on a scrape. */
export type Tally<Label extends string> = { add: (labels: Readonly<Record<Label, string | number>>) => void };

export function createTally<Label extends string>(
  metrics: Registered,
  options: { name: string; help: string; labelNames: readonly Label[] },
): Tally<Label> {
  const { name, help, labelNames } = options;
  const counts = new Map<string, number>();
  const labelsOf = (key: string): Labels => {
    const values = key.split('\n');
    return Object.fromEntries(labelNames.map((label, index) => [label, values[index] ?? '']));
  };
  observeTotal(metrics, name, help, labelNames, () =>
    [...counts].map(([key, count]) => [labelsOf(key), count]),
  );
  return {
    add(labels) {
      let key = '';
      for (const label of labelNames) key = key === '' ? String(labels[label]) : `${key}\n${labels[label]}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

/** A gauge that is read on each scrape. */
export function observe(metrics: Registered, name: string, help: string, read: () => number): void {
  observeLabelled(metrics, name, help, [], () => [[{}, read()]]);
}

type Labels = Record<string, string>;

/** The same with labels: one value for each set of them. */
export function observeLabelled(
  { registry }: Registered,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => readonly (readonly [Labels, number])[],
): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        // Labels that have disappeared since the last scrape have no value.
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    }),
  );
}

/** A number that only grows and is kept elsewhere. Its name ends in `_total`. */
export function observeTotal(
  { registry }: Registered,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => readonly (readonly [Labels, number])[],
): void {
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    }),
  );
}
