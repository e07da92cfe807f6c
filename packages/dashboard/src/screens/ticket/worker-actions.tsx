// The actions that a person can take on a worker now. The daemon decides; this only avoids a refusal.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { RotateCcw, ShieldCheck } from 'lucide-react';
import { useId, useState } from 'react';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { isShipped } from 'svc-monitor/src/features/workers/status-groups.ts';
import { client } from '../../api/client.ts';
import { Confirm } from '../../parts/confirm.tsx';

type WorkerRow = BoardView['workers'][number];
type JudgedRun = Pick<BoardView['runs'][number], 'state' | 'plan'>;
type Judged = Pick<WorkerRow, 'status' | 'deploy' | 'merge' | 'claim' | 'process'>;

export type WorkerAction = 'deploy-retry' | 'deploy-accept' | 'worker-retry';

/** The actions that make sense in the worker's current state. */
export function allowedActions(worker: Judged, run: JudgedRun | null): WorkerAction[] {
  const actions: WorkerAction[] = [];
  const { status, deploy, claim } = worker;
  if (deploy !== null && (status === 'deploy-failed' || status === 'stalled')) actions.push('deploy-retry');
  if (!isShipped(worker) && (deploy !== null || claim?.status === 'done')) actions.push('deploy-accept');
  if (canRestart(worker, run)) actions.push('worker-retry');
  return actions;
}

/** Only a worker that ended, stalled or lost its process can be restarted. */
function canRestart({ status, merge, process }: Judged, run: JudgedRun | null): boolean {
  if (merge !== null || run === null) return false;
  const isOver = run.state === 'completed' || run.state === 'canceled';
  // svc cannot continue a run that it does not manage.
  if (isOver && run.plan === null) return false;
  if (status === 'failed' || status === 'canceled' || status === 'stalled') return true;
  return isAgentsWork(status) && process.state === 'dead' && process.reviving !== true;
}

type RunRow = BoardView['runs'][number];

export function WorkerActions({
  worker,
  run,
  disabledBecause,
  only,
}: {
  worker: WorkerRow;
  run: RunRow | null;
  disabledBecause: string | null;
  /** Show only this action. */
  only?: WorkerAction;
}) {
  const actions = allowedActions(worker, run).filter((action) => only === undefined || action === only);
  const given = { worker, disabledBecause };
  return (
    <>
      {actions.includes('deploy-retry') && <DeployRetry {...given} />}
      {actions.includes('deploy-accept') && <DeployAccept {...given} />}
      {actions.includes('worker-retry') && <WorkerRetry {...given} isManaged={run?.plan !== null} />}
    </>
  );
}

type Given = { worker: WorkerRow; disabledBecause: string | null };

function DeployRetry({ worker, disabledBecause }: Given) {
  const { ticket, attempts, budget, deploy, policy } = worker;
  return (
    <Confirm
      trigger={
        <>
          <RotateCcw aria-hidden="true" className="size-4" />
          Retry deploy
        </>
      }
      title={`Retry deploy of ${ticket}`}
      label="Retry deploy"
      disabledBecause={disabledBecause}
      onConfirm={() => decideDeploy(worker, 'retry', '')}
    >
      <p>
        {ticket} goes back to “Merged” and waits for a new deployment to{' '}
        {deploy?.environment ?? policy.productionEnvironment}. The {attempts} of {budget} attempts so far no
        longer count, and the deadline starts again.
      </p>
      <p className="text-muted">svc does not start deployments: your pipeline must.</p>
    </Confirm>
  );
}

function DeployAccept({ worker, disabledBecause }: Given) {
  const [note, setNote] = useState('');
  const id = useId();
  const { ticket } = worker;
  return (
    <Confirm
      trigger={
        <>
          <ShieldCheck aria-hidden="true" className="size-4" />
          Accept as done
        </>
      }
      title={`Accept ${ticket} as done`}
      label="Accept as done"
      disabledBecause={disabledBecause}
      onConfirm={() => decideDeploy(worker, 'accept', note)}
    >
      <p>
        {ticket} becomes “Done”, also in the tracker, and its receipt records that you accepted it without a
        successful deployment. This cannot be undone.
      </p>
      <label htmlFor={id} className="flex flex-col gap-1 text-small text-muted">
        Reason (kept in the event log)
        <textarea
          id={id}
          value={note}
          maxLength={2_000}
          rows={2}
          onChange={({ target }) => setNote(target.value)}
          className="rounded-control border border-line-strong bg-surface p-2 text-body text-text"
        />
      </label>
    </Confirm>
  );
}

function WorkerRetry({ worker, disabledBecause, isManaged }: Given & { isManaged: boolean }) {
  const { ticket, orchestrator } = worker;
  return (
    <Confirm
      trigger={
        <>
          <RotateCcw aria-hidden="true" className="size-4" />
          Restart
        </>
      }
      title={`Restart the agent of ${ticket}`}
      label="Restart agent"
      disabledBecause={disabledBecause}
      onConfirm={() =>
        client.post('/api/runs/{run}/retry', { params: { run: orchestrator }, body: { ticket } })
      }
    >
      <p>
        Its status goes back to “Starting”, and its earlier starts no longer count.
        {isManaged
          ? ' A new process starts in its worktree as soon as the run has a free slot.'
          : ' svc does not manage this run: the other orchestrator decides whether to start a process.'}
      </p>
    </Confirm>
  );
}

function decideDeploy({ ticket, orchestrator }: WorkerRow, action: 'retry' | 'accept', note: string) {
  return client.post('/api/workers/{ticket}/deploy', {
    params: { ticket },
    body: { action, orchestrator, ...(note.trim() !== '' && { note: note.trim() }) },
  });
}
