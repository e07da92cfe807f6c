// One archived run: its files with checksums, the skipped files with reasons, and the commands for it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ArchiveManifest } from 'svc-monitor/src/features/archive/manifest.ts';
import { runLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { client } from '../../api/client.ts';
import { Ago } from '../../parts/age.tsx';
import { sizeWords } from '../../parts/format.ts';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

export function ArchivedRunScreen() {
  const { run } = useParams({ from: '/archive/$run' });
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['archive', 'run', run],
    queryFn: ({ signal }) => client.get('/api/archive/{run}', { params: { run }, signal }),
  });
  return (
    <>
      <p className="mb-2 text-small text-muted">
        <Link to="/archive" className="underline underline-offset-2">
          Archive
        </Link>
      </p>
      <ScreenHead title={run}>
        {data && <Pill meaning={runLabel(data.state).meaning}>{runLabel(data.state).words}</Pill>}
      </ScreenHead>
      {isPending && <Loading what="the archived run" lines={6} />}
      {error && <Failed error={error} again={() => void refetch()} />}
      {data && <Manifest manifest={data} />}
    </>
  );
}

function Manifest({ manifest }: { manifest: ArchiveManifest }) {
  const { orchestrator, archivedAt, project, lastSeq, files, skipped } = manifest;
  return (
    <div className="flex flex-col gap-6">
      <dl className="grid gap-x-8 gap-y-2 text-small wide:grid-cols-[auto_1fr]">
        <dt className="text-muted">Archived</dt>
        <dd>
          <Ago at={archivedAt} />
        </dd>
        <dt className="text-muted">Project</dt>
        <dd className="break-all">{project ?? 'unknown'}</dd>
        <dt className="text-muted">Last event</dt>
        <dd>
          {lastSeq === 0 ? (
            'none'
          ) : (
            <Link to="/events" search={{ seq: String(lastSeq) }} className="underline underline-offset-2">
              {lastSeq}
            </Link>
          )}
        </dd>
      </dl>
      <Panel title={files.length === 1 ? '1 file' : `${files.length} files`}>
        <ul className="-my-2 flex flex-col text-small">
          {files.map((file) => (
            <li
              key={file.path}
              className="flex flex-wrap items-baseline justify-between gap-x-4 border-line border-b py-2 last:border-0"
            >
              <code className="min-w-0 break-all text-ink">{file.path}</code>
              <span className="flex gap-4 text-tiny text-muted">
                <span title={file.sha256}>sha256 {file.sha256.slice(0, 12)}</span>
                <span>{sizeWords(file.size)}</span>
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      {skipped.length > 0 && (
        <Panel title={`${skipped.length} skipped`}>
          <ul className="-my-2 flex flex-col text-small">
            {skipped.map((file) => (
              <li
                key={file.path}
                className="flex flex-wrap items-baseline justify-between gap-x-4 border-line border-b py-2 last:border-0"
              >
                <code className="min-w-0 break-all text-ink">{file.path}</code>
                <span className="text-muted">{file.reason}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Commands">
        <div className="flex flex-col gap-2">
          <Remedy text={`svc archive verify ${orchestrator}`} />
          <Remedy text={`svc archive restore ${orchestrator}`} />
        </div>
      </Panel>
    </div>
  );
}
