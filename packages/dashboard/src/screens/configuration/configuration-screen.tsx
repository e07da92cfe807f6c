// What is set, with its source; every key with its explanation. Secrets are never sent here.
import { useQuery } from '@tanstack/react-query';
import type { ConfigReport } from 'svc-monitor/src/features/configuration/api.ts';
import { client } from '../../api/client.ts';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { ChoiceField, SearchField, useAddressText } from '../../parts/search-field.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { type ConfigFilter, entriesShown, fileNames, sectionsOf, valueWords } from './config-entries.ts';
import { ConfigTable, Path } from './config-table.tsx';

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
              all="Set by you"
              options={[
                { value: 'all', text: 'All keys' },
                { value: 'set', text: 'With a value' },
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
      {data && <Report report={data} filter={{ text, only }} />}
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
      <dl className="flex flex-wrap gap-x-8 gap-y-2 text-small">
        {fileNames(report.files).map(({ name, path }) => (
          <div key={name} className="flex min-w-0 flex-col">
            <dt className="text-tiny text-muted">{name}</dt>
            <dd className="min-w-0">
              <Path text={path} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length === 0 ? (
        <Empty title={filter.only === '' && filter.text === '' ? 'Nothing is set.' : 'No matching keys.'}>
          <p>Choose "All keys" to see all {report.values.length} with their defaults.</p>
        </Empty>
      ) : (
        <ConfigTable sections={sectionsOf(shown)} files={report.files} />
      )}
      <p className="text-small text-muted">
        {shown.length} of {report.values.length} keys are shown.
      </p>
      <Panel title="This machine">
        <table className="w-full text-small">
          <tbody>
            {report.machine.map(({ variable, value, fromEnvironment, description }) => (
              <tr
                key={variable}
                className="border-line border-b align-top last:border-0 max-wide:grid max-wide:grid-cols-[minmax(0,1fr)_auto]"
              >
                <th
                  scope="row"
                  className="w-72 py-2 pr-4 text-left font-normal max-wide:col-span-2 max-wide:w-full max-wide:pb-0"
                >
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
