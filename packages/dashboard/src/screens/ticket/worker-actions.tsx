// What a person may say about a worker now, and why not. The daemon decides; this only spares a refusal.
import type { BoardView } from '@svc/core';
import { isAgentsWork } from '@svc/core/browser';
import { RotateCcw, ShieldCheck } from 'lucide-react';
import { useId, useState } from 'react';
import { client } from '../../api/client.ts';
import { Confirm } from '../../parts/confirm.tsx';

type WorkerRow = BoardView['workers'][number];
type JudgedRun = Pick<BoardView['runs'][number], 'state' | 'plan'>;
type Judged = Pick<WorkerRow, 'status' | 'deploy' | 'merge' | 'claim' | 'life'>;

export type WorkerWord = 'deploy-retry' | 'deploy-accept' | 'worker-retry';

/** The words that have a meaning for the worker as it stands. */
export function allowedWords(worker: Judged, run: JudgedRun | null): WorkerWord[] {
  const words: WorkerWord[] = [];
  const { status, deploy, claim } = worker;
  if (deploy !== null && (status === 'deploy-failed' || status === 'stalled')) words.push('deploy-retry');
  if (status !== 'done' && (deploy !== null || claim?.status === 'done')) words.push('deploy-accept');
  if (mayBeStartedAnew(worker, run)) words.push('worker-retry');
  return words;
}

/** One that works is left alone: only what ended, stalled or lost its process is offered a new start. */
function mayBeStartedAnew({ status, merge, life }: Judged, run: JudgedRun | null): boolean {
  if (merge !== null || run === null) return false;
  const isOver = run.state === 'completed' || run.state === 'canceled';
  // A run that others conduct does not go on by it.
  if (isOver && run.plan === null) return false;
  if (status === 'failed' || status === 'canceled' || status === 'stalled') return true;
  return isAgentsWork(status) && life.state === 'dead' && life.reviving !== true;
}

// What a person can do about the worker: each says what it will do before it does it.

type RunRow = BoardView['runs'][number];

export function WorkerWords({
  worker,
  run,
  disabledBecause,
  only,
}: {
  worker: WorkerRow;
  run: RunRow | null;
  disabledBecause: string | null;
  /** Where there is room for one alone. */
  only?: WorkerWord;
}) {
  const words = allowedWords(worker, run).filter((word) => only === undefined || word === only);
  const given = { worker, disabledBecause };
  return (
    <>
      {words.includes('deploy-retry') && <DeployRetry {...given} />}
      {words.includes('deploy-accept') && <DeployAccept {...given} />}
      {words.includes('worker-retry') && <WorkerRetry {...given} isConducted={run?.plan !== null} />}
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
          Retry the deploy
        </>
      }
      title={`Retry the deploy of ${ticket}`}
      label="Retry the deploy"
      disabledBecause={disabledBecause}
      onConfirm={() => deployWord(worker, 'retry', '')}
    >
      <p>
        {ticket} goes back to “Merged” and waits for a new deployment in{' '}
        {deploy?.environment ?? policy.productionEnvironment}. Its {attempts} of {budget} attempts no longer
        count, and its deadline begins again.
      </p>
      <p className="text-muted">svc does not start a deployment itself: your pipeline must.</p>
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
      onConfirm={() => deployWord(worker, 'accept', note)}
    >
      <p>
        {ticket} becomes “Done” by your word, its ticket is moved to done, and the receipt says that no
        deployment was seen to succeed. This cannot be taken back.
      </p>
      <label htmlFor={id} className="flex flex-col gap-1 text-small text-muted">
        Why it is done (kept in the event log)
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

function WorkerRetry({ worker, disabledBecause, isConducted }: Given & { isConducted: boolean }) {
  const { ticket, orchestrator } = worker;
  return (
    <Confirm
      trigger={
        <>
          <RotateCcw aria-hidden="true" className="size-4" />
          Start anew
        </>
      }
      title={`Start the worker of ${ticket} anew`}
      label="Start it anew"
      disabledBecause={disabledBecause}
      onConfirm={() =>
        client.post('/api/runs/{run}/retry', { params: { run: orchestrator }, body: { ticket } })
      }
    >
      <p>
        Its signal file says “dispatched” again, and its earlier starts no longer count against it.
        {isConducted
          ? ' A new process is started in its worktree as soon as the run has a free place.'
          : ' Somebody else conducts this run: whether a process is started is up to them.'}
      </p>
    </Confirm>
  );
}

function deployWord({ ticket, orchestrator }: WorkerRow, word: 'retry' | 'accept', note: string) {
  return client.post('/api/workers/{ticket}/deploy', {
    params: { ticket },
    body: { word, orchestrator, ...(note.trim() !== '' && { note: note.trim() }) },
  });
}
