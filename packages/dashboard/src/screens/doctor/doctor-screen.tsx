// The result of the same checks as `svc doctor`.
import type { Answer } from '@svc/client';
import type { CheckGrade, DoctorFinding } from '@svc/core';
import { isOff } from '@svc/core/browser';
import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { client } from '../../api/client.ts';
import { Age } from '../../parts/age.tsx';
import { Button, CopyButton } from '../../parts/button.tsx';
import type { Meaning } from '../../parts/meaning.ts';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { OwnFigures } from './own-figures.tsx';

type DoctorReport = Answer<'POST', '/api/doctor/run'>;

const meanings: Record<CheckGrade, Meaning> = {
  broken: 'broken',
  warning: 'you',
  unknown: 'unknown',
  ok: 'proven',
};

export function DoctorScreen() {
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => client.post('/api/doctor/run', { signal }),
    staleTime: 60_000,
    retry: false,
  });
  const wrong = data?.findings.filter(({ grade }) => grade !== 'ok') ?? [];
  const off = data?.findings.filter(isOff) ?? [];
  const well = data?.findings.filter((finding) => finding.grade === 'ok' && !isOff(finding)) ?? [];
  const fixable = wrong.some((finding) => finding.fixable);
  return (
    <>
      <ScreenHead
        title="Doctor"
        aside={
          <Button onClick={() => void refetch()} disabled={isFetching}>
            <RefreshCw aria-hidden="true" className="size-4" />
            {isFetching ? 'Checking' : 'Check again'}
          </Button>
        }
      >
        {data && (
          <p className="text-small text-muted" role="status">
            {verdictWords(data)} Checked <Age at={dataUpdatedAt} /> ago.
          </p>
        )}
      </ScreenHead>
      <div className="flex flex-col gap-6">
        {data === undefined && isFetching && (
          <Loading what="the results; every component is being checked" lines={8} />
        )}
        {error && <Failed error={error} again={() => void refetch()} />}
        {data && (
          <>
            {wrong.length > 0 && (
              <Panel
                title="Problems"
                aside={fixable && <CopyButton text="svc doctor --fix" label="Copy: svc doctor --fix" />}
              >
                <Findings findings={wrong} />
              </Panel>
            )}
            {off.length > 0 && (
              <Panel title="Switched off">
                <Findings findings={off} />
              </Panel>
            )}
            <Panel title="Healthy" aside={<span className="text-tiny text-muted">{well.length} checks</span>}>
              <Findings findings={well} />
            </Panel>
          </>
        )}
        <OwnFigures />
      </div>
    </>
  );
}

function verdictWords({ broken, warnings, unknown }: DoctorReport): string {
  const words = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
  ];
  return words.length === 0 ? 'No problems found.' : `${words.join(', ')}.`;
}

function Findings({ findings }: { findings: readonly DoctorFinding[] }) {
  return (
    <ul className="-my-2 flex flex-col">
      {findings.map((finding) => {
        const { part, grade, what, evidence, remedy, fixable } = finding;
        return (
          <li
            key={`${part}${what}`}
            className="grid gap-x-4 gap-y-1 border-line border-b py-2.5 text-small last:border-0 wide:grid-cols-[8rem_7rem_1fr]"
          >
            <span className="font-medium text-ink">{part}</span>
            <span>
              <Pill meaning={isOff(finding) ? 'unknown' : meanings[finding.grade]}>
                {isOff(finding) ? 'off' : finding.grade}
              </Pill>
            </span>
            <div className="flex min-w-0 flex-col items-start gap-1">
              <span className="break-words">{what}</span>
              {evidence !== null && <span className="break-words text-tiny text-muted">{evidence}</span>}
              <Remedy text={remedy} />
              {fixable && grade !== 'ok' && (
                <CopyButton text="svc doctor --fix" label="Copy: svc doctor --fix" />
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
