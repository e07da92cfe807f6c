// The keys of the configuration: which are shown, by section, and what is written for a value and its source.
import type { ConfigEntry, ConfigReport } from 'svc-monitor/src/features/configuration/api.ts';

export type ConfigFilter = { text: string; only: string };
export type Section = { name: string; entries: ConfigEntry[] };

export function entriesShown(entries: readonly ConfigEntry[], { text, only }: ConfigFilter): ConfigEntry[] {
  const wanted = text.toLowerCase();
  // What somebody searches for may not be set yet.
  const shown = only === '' ? (text === '' ? 'mine' : 'all') : only;
  return entries.filter(
    (entry) =>
      (entry.key.toLowerCase().includes(wanted) || entry.description.toLowerCase().includes(wanted)) &&
      (shown !== 'mine' || isMine(entry)) &&
      (shown !== 'set' || entry.isSet) &&
      (shown !== 'unset' || !entry.isSet) &&
      (shown !== 'deprecated' || entry.deprecated !== null) &&
      (shown !== 'differs' || entry.differs !== null),
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

/** As written in the file; a missing value is "none". */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Set in a file or by the environment, not a default. */
function isMine({ source }: ConfigEntry): boolean {
  return source.kind === 'file' || source.kind === 'environment' || source.kind === 'last-good';
}

/** `project file, line 3`: the paths of the three files are written once, above the table. */
export function sourceWords(source: ConfigEntry['source'], files: ConfigReport['files']): string {
  if (source.kind === 'unset') return 'not set';
  if (source.kind !== 'file' || source.line === null) return source.text;
  const name = fileNames(files).find(({ path }) => path === source.file)?.name;
  return name === undefined ? source.text : `${name.toLowerCase()}, line ${source.line}`;
}

export function fileNames(files: ConfigReport['files']): { name: string; path: string }[] {
  const all = [
    { name: 'Project file', path: files.project },
    { name: 'Secrets file', path: files.secrets },
    { name: 'Global file', path: files.global },
  ];
  return all.flatMap(({ name, path }, index) =>
    path === null || all.findIndex((one) => one.path === path) !== index ? [] : [{ name, path }],
  );
}
