// The result of the same checks as `svc doctor`.
import type { Answer } from '@svc/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RefreshCw, Wrench } from 'lucide-react';
import type { DoctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { isOff } from 'svc-monitor/src/kernel/check/finding.ts';
import { client } from '../../api/client.ts';
import { useDisabledBecause } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Findings } from '../../parts/findings.tsx';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { useSending } from '../answer/use-sending.ts';
import { OwnFigures } from './own-figures.tsx';

type DoctorReport = Answer<'POST', '/api/doctor/run'>;

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
  const repair = useRepair();
  const fixable = wrong.filter((finding) => finding.fixable);
  return (
    <>
      <ScreenHead
        title="Doctor"
        aside={
          <Button onClick={() => void refetch()} disabled={isFetching || repair.busy}>
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
        {repair.failure && <Failed error={repair.failure} />}
        {data && <Repaired fixed={data.fixed} />}
        {data && (
          <>
            {wrong.length > 0 && (
              <Panel
                title="Problems"
                aside={
                  fixable.length > 1 && (
                    <RepairButton repair={repair} findings={fixable} label={`Repair all ${fixable.length}`} />
                  )
                }
              >
                <Findings
                  findings={wrong}
                  actions={(finding) =>
                    finding.fixable && <RepairButton repair={repair} findings={[finding]} label="Repair" />
                  }
                />
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

type Repair = {
  isDisabled: boolean;
  busy: boolean;
  failure: Error | null;
  run: (findings: readonly DoctorFinding[]) => void;
};

/** The daemon repairs what it calls fixable, as `svc doctor --fix` does, and checks everything again. */
function useRepair(): Repair {
  const queries = useQueryClient();
  const { busy, failure, send } = useSending();
  const isDisabled = useDisabledBecause() !== null || busy;
  const run = (findings: readonly DoctorFinding[]): void => {
    const fix = findings.map(({ part, what }) => ({ part, what }));
    void send(async () => {
      queries.setQueryData(['doctor'], await client.post('/api/doctor/run', { body: { fix } }));
    });
  };
  return { isDisabled, busy, failure, run };
}

function RepairButton(given: { repair: Repair; findings: readonly DoctorFinding[]; label: string }) {
  const { repair, findings, label } = given;
  return (
    <Button
      onClick={() => repair.run(findings)}
      disabled={repair.isDisabled}
      title={`As svc doctor --fix: ${findings.map(({ what }) => shownText(what)).join('; ')}`}
    >
      <Wrench aria-hidden="true" className="size-4" />
      {repair.busy ? 'Repairing' : label}
    </Button>
  );
}

function Repaired({ fixed }: Pick<DoctorReport, 'fixed'>) {
  return (
    <div role="status" aria-label="Repairs">
      {fixed.map(({ part, what, done, failed }) => (
        <p
          key={`${part}${what}`}
          className={done === null ? 'text-broken text-small' : 'text-proven text-small'}
        >
          {shownText(done === null ? `Not repaired: ${what}: ${failed}` : `Repaired: ${done}.`)}
        </p>
      ))}
    </div>
  );
}
