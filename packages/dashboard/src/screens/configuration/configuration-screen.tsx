// Every key with its value, source and default. Secrets are never sent here.
import type { ConfigEntry, ConfigReport } from '@svc/core';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { classNames } from '../../parts/class-names.ts';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { ChoiceField, SearchField, useAddressText } from '../../parts/search-field.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';

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

/** As written in the file; a missing value is "none". */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function ConfigurationScreen() {
  const [project] = useAddressText('project');
  const [text] = useAddressText('text');
  const [only] = useAddressText('only');
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['config', project],
    queryFn: ({ signal }) => client.get('/api/config', { query: project === '' ? {} : { project }, signal }),
    // The daemon rereads files when they change.
    refetchInterval: 5_000,
  });
  return (
    <>
      <ScreenHead
        title="Configuration"
        aside={
          <>
            <ChoiceField
              name="project"
              label="Project"
              all="First project"
              options={(data?.projects ?? []).map(({ id, name }) => ({ value: id, text: name ?? id }))}
            />
            <ChoiceField
              name="only"
              label="Show"
              all="All keys"
              options={[
                { value: 'set', text: 'Set' },
                { value: 'unset', text: 'Not set' },
                { value: 'deprecated', text: 'Deprecated' },
                { value: 'differs', text: 'File value not in effect' },
              ]}
            />
            <SearchField name="text" label="Search keys" placeholder="Key or description" />
          </>
        }
      >
        {data && <p className="text-small text-muted">{data.project ?? 'no project'}</p>}
      </ScreenHead>
      {isPending && <Loading what="the configuration" lines={8} />}
      {error && <Failed error={error} again={() => void refetch()} />}
      {data && <Report report={data} filter={{ text, only: only === '' ? 'all' : only }} />}
    </>
  );
}

function Report({ report, filter }: { report: ConfigReport; filter: ConfigFilter }) {
  const shown = entriesShown(report.values, filter);
  return (
    <div className="flex flex-col gap-6">
      {report.problems.length > 0 && (
        <Panel title={report.problems.length === 1 ? '1 problem' : `${report.problems.length} problems`}>
          <ul className="flex flex-col gap-2 text-small">
            {report.problems.map(({ severity, text, remedy }) => (
              <li key={text} className="flex items-baseline gap-2">
                <Pill meaning={severity === 'error' ? 'broken' : 'you'}>{severity}</Pill>
                <span className="min-w-0 break-words">
                  {text} <span className="text-muted">{remedy}</span>
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {shown.length === 0 && (
        <Empty title="No matching keys.">
          <p>Clear the filters to see all {report.values.length} keys.</p>
        </Empty>
      )}
      {sectionsOf(shown).map((section) => (
        <SectionTable key={section.name} section={section} />
      ))}
      <Panel title="This machine">
        <table className="w-full text-small">
          <tbody>
            {report.machine.map(({ variable, value, fromEnvironment, description }) => (
              <tr key={variable} className="border-line border-b align-top last:border-0">
                <th scope="row" className="w-72 py-2 pr-4 text-left font-normal">
                  <code className="break-all text-ink">{variable}</code>
                  <span className="block text-tiny text-muted">{description}</span>
                </th>
                <td className="py-2 pr-4 break-all">{valueWords(value)}</td>
                <td className="py-2 text-muted">{fromEnvironment ? 'environment' : 'default'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </div>
  );
}

function SectionTable({ section }: { section: Section }) {
  return (
    <Panel
      title={section.name}
      aside={
        <span className="text-tiny text-muted">
          {section.entries.length} {section.entries.length === 1 ? 'key' : 'keys'}
        </span>
      }
    >
      <table className="w-full table-fixed text-small max-wide:block">
        <thead className="text-left text-tiny text-muted max-wide:sr-only">
          <tr>
            <th scope="col" className="w-[36%] pb-2 font-medium">
              Key
            </th>
            <th scope="col" className="w-[24%] pb-2 font-medium">
              Value
            </th>
            <th scope="col" className="w-[24%] pb-2 font-medium">
              Source
            </th>
            <th scope="col" className="pb-2 font-medium">
              Default
            </th>
          </tr>
        </thead>
        <tbody className="max-wide:block">
          {section.entries.map((entry) => (
            <tr key={entry.key} className="border-line border-t align-top max-wide:block max-wide:py-2">
              <th scope="row" className="py-2 pr-4 text-left font-normal max-wide:block max-wide:py-0">
                <code
                  className={classNames('break-all', entry.isSet ? 'font-semibold text-ink' : 'text-text')}
                >
                  {entry.key}
                </code>
                <span className="block text-tiny text-muted">{entry.description}</span>
                {entry.deprecated !== null && (
                  <span className="mt-1 block text-tiny text-you">Deprecated: {entry.deprecated}</span>
                )}
                {entry.differs !== null && (
                  <span className="mt-1 block text-tiny break-words text-broken">
                    File value not in effect: {entry.differs}
                  </span>
                )}
              </th>
              <td className="py-2 pr-4 break-words max-wide:block max-wide:py-0.5">
                <span className="sr-only wide:hidden">Value: </span>
                <span className={entry.isSet ? 'text-ink' : 'text-muted'}>{valueWords(entry.value)}</span>
                {entry.isSecret && <span className="ml-2 text-tiny text-muted">secret</span>}
              </td>
              <td className="py-2 pr-4 text-muted max-wide:inline max-wide:py-0.5">
                {entry.source.kind === 'last-good' && (
                  <span className="mr-2">
                    <Pill meaning="broken">last valid value</Pill>
                  </span>
                )}
                <span className="break-all">{entry.source.text}</span>
              </td>
              <td className="py-2 text-muted break-words max-wide:hidden">{valueWords(entry.default)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
