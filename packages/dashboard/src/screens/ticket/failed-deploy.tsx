// The failed deployment of a ticket: what failed, and the log that says why.
import { ScrollText } from 'lucide-react';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { Ago } from '../../parts/age.tsx';
import { OutsideLink, OutsideText, safeAddress } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';

type WorkerRow = BoardView['workers'][number];
type DeploymentRow = BoardView['deployments'][number];

/** The newest failed deployment of the worker's merge; null if its deploy has not failed. */
export function failedDeployment(
  worker: Pick<WorkerRow, 'status' | 'repo' | 'merge'>,
  deployments: Iterable<DeploymentRow>,
): DeploymentRow | null {
  if (worker.status !== 'deploy-failed') return null;
  const failed = [...deployments].filter(
    ({ repo, sha, state }) =>
      repo === worker.repo && sha === worker.merge?.sha && (state === 'failure' || state === 'error'),
  );
  return failed.toSorted((one, other) => Date.parse(other.stateAt) - Date.parse(one.stateAt))[0] ?? null;
}

export function FailedDeploy({
  deployment: { id, environment, description, stateAt, logUrl },
  attempts,
  budget,
}: {
  deployment: DeploymentRow;
  attempts: number;
  budget: number;
}) {
  return (
    <Panel title="Failed deployment" aside={<Pill meaning="broken">failed</Pill>}>
      <div className="flex flex-col gap-2 text-small">
        <p className="text-body text-ink">
          <OutsideText>{description ?? `The deployment to ${environment} failed.`}</OutsideText>
        </p>
        <p className="flex flex-wrap gap-x-3 text-muted">
          <span>
            <OutsideText>{environment}</OutsideText>, deployment {id}, <Ago at={stateAt} />
          </span>
          <span>
            {attempts} of {budget} attempts failed
          </span>
        </p>
        {safeAddress(logUrl) === null ? (
          <p className="text-muted">The code host reported no link to its log.</p>
        ) : (
          <OutsideLink
            href={logUrl}
            className="inline-flex h-8 items-center gap-1.5 self-start rounded-control border border-line-strong px-2.5 font-medium text-ink max-wide:h-11"
          >
            <ScrollText aria-hidden="true" className="size-4" />
            Open its log
          </OutsideLink>
        )}
      </div>
    </Panel>
  );
}
