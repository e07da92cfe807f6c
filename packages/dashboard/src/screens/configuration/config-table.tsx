// The keys in one table, by section. A click on a key explains it: what it is for, where its value comes from, and the
// command that changes it.
import { ChevronRight } from 'lucide-react';
import { Fragment, type ReactNode, useId, useState } from 'react';
import type { ConfigEntry, ConfigReport } from 'svc-monitor/src/features/configuration/api.ts';
import { CopyButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { type Section, sourceWords, valueWords } from './config-entries.ts';

export function ConfigTable({
  sections,
  files,
}: {
  sections: readonly Section[];
  files: ConfigReport['files'];
}) {
  return (
    <Panel title="Keys" flush>
      <table className="w-full table-fixed border-collapse text-left text-small max-wide:block">
        <thead className="text-tiny text-muted max-wide:sr-only">
          <tr>
            <th scope="col" className="h-9 w-2/5 px-4 font-medium">
              Key
            </th>
            <th scope="col" className="h-9 px-3 font-medium">
              Value
            </th>
            <th scope="col" className="h-9 w-1/4 px-3 font-medium">
              Source
            </th>
          </tr>
        </thead>
        {sections.map(({ name, entries }) => (
          <tbody key={name} className="max-wide:block">
            {entries[0]?.key !== name && (
              <tr className="border-line border-t bg-ground max-wide:block">
                <th
                  scope="rowgroup"
                  colSpan={3}
                  className="px-4 py-1.5 text-tiny font-medium text-muted max-wide:block"
                >
                  {name}
                </th>
              </tr>
            )}
            {entries.map((entry) => (
              <EntryRows key={entry.key} entry={entry} files={files} />
            ))}
          </tbody>
        ))}
      </table>
    </Panel>
  );
}

function EntryRows({ entry, files }: { entry: ConfigEntry; files: ConfigReport['files'] }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <tr className="border-line border-t align-top max-wide:block max-wide:py-1">
        <th scope="row" className="px-4 py-1.5 font-normal max-wide:block max-wide:py-0">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            title={`Explain ${entry.key}`}
            onClick={() => setOpen(!isOpen)}
            className="flex w-full min-w-0 items-start gap-1.5 text-left max-wide:min-h-11 max-wide:items-center"
          >
            <ChevronRight
              aria-hidden="true"
              className={classNames('mt-0.5 size-4 shrink-0 text-muted', isOpen && 'rotate-90')}
            />
            <code className="min-w-0 text-ink">
              <Pieces text={entry.key} at="." />
            </code>
          </button>
          {entry.deprecated !== null && (
            <span className="ml-5.5 block text-tiny text-you">Deprecated: {entry.deprecated}</span>
          )}
          {entry.differs !== null && (
            <span className="ml-5.5 block text-tiny break-words text-broken">
              File value not in effect: {entry.differs}
            </span>
          )}
        </th>
        <td className="px-3 py-1.5 break-words max-wide:block max-wide:py-0.5 max-wide:pl-9.5">
          <span className="sr-only wide:hidden">Value: </span>
          <span className={entry.isSet ? 'text-ink' : 'text-muted'}>{valueWords(entry.value)}</span>
          {entry.isSecret && <span className="ml-2 text-tiny text-muted">secret</span>}
        </td>
        <td className="px-3 py-1.5 break-words text-muted max-wide:block max-wide:py-0.5 max-wide:pl-9.5">
          {entry.source.kind === 'last-good' && (
            <span className="mr-2">
              <Pill meaning="broken">last valid value</Pill>
            </span>
          )}
          {sourceWords(entry.source, files)}
        </td>
      </tr>
      {isOpen && (
        <tr id={id} className="bg-ground max-wide:block">
          <td colSpan={3} className="px-4 py-3 pl-9.5 max-wide:block">
            <Explanation entry={entry} />
          </td>
        </tr>
      )}
    </>
  );
}

/** What `svc config explain` prints. */
function Explanation({ entry }: { entry: ConfigEntry }) {
  const command = `svc config set ${entry.key} ${entry.isSecret ? '- < file' : '<value>'}`;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-text">{entry.description}</p>
      <dl className="grid grid-cols-[6rem_1fr] gap-x-4 gap-y-1">
        <Fact name="Source">
          <Path text={entry.source.text} />
        </Fact>
        <Fact name="Default">{valueWords(entry.default)}</Fact>
        <Fact name="Expects">{entry.expects}</Fact>
        <Fact name="Looked at">
          <ul aria-label="Looked at, the strongest first">
            {entry.lookedAt.length === 0 && <li className="text-muted">no file sets it</li>}
            {entry.lookedAt.map(({ where, found, value, note }) => (
              <li key={where}>
                <Path text={where} />: {found ? valueWords(value) : 'not set'}
                {note !== null && <span className="text-muted"> ({note})</span>}
              </li>
            ))}
          </ul>
        </Fact>
      </dl>
      <div className="flex flex-wrap items-center gap-2">
        <code className="rounded-control bg-sunken px-2 py-1 text-tiny break-words text-text">{command}</code>
        <CopyButton text={command} label="Copy command" />
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words text-text">{children}</dd>
    </>
  );
}

/** A path that breaks after its slashes only. */
export function Path({ text }: { text: string }) {
  return (
    <code className="text-tiny text-text">
      <Pieces text={text} at="/" />
    </code>
  );
}

function Pieces({ text, at }: { text: string; at: string }) {
  return text.split(at).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name and never move.
    <Fragment key={index}>
      {index > 0 && (
        <>
          {at}
          <wbr />
        </>
      )}
      {piece}
    </Fragment>
  ));
}
