// The keys of the configuration, by the first two words of their names, and filtered.
import type { ConfigEntry } from '@svc/core';

export type ConfigFilter = { text: string; only: string };
export type Section = { name: string; entries: ConfigEntry[] };

export function entriesShown(entries: readonly ConfigEntry[], { text, only }: ConfigFilter): ConfigEntry[] {
  const wanted = text.toLowerCase();
  return entries.filter(
    (entry) =>
      (entry.key.toLowerCase().includes(wanted) || entry.description.toLowerCase().includes(wanted)) &&
      (only !== 'set' || entry.isSet) &&
      (only !== 'unset' || !entry.isSet) &&
      (only !== 'deprecated' || entry.deprecated !== null) &&
      (only !== 'differs' || entry.differs !== null),
  );
}

export function sectionsOf(entries: readonly ConfigEntry[]): Section[] {
  const sections = Map.groupBy(entries, ({ key }) =>
    key
      .split('.')
      .slice(0, key.startsWith('svc.') ? 2 : 1)
      .join('.'),
  );
  return [...sections].map(([name, all]) => ({ name, entries: all }));
}

/** As it would be written in the file; nothing at all is told as such. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
