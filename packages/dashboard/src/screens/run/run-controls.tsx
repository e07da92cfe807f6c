// A person's words on a run: pause, resume, cancel. Each says what it will do; what the daemon refuses, it says why.
import { useQueryClient } from '@tanstack/react-query';
import { CirclePause, CirclePlay, CircleStop } from 'lucide-react';
import { postJson } from '../../api/client.ts';
import { Confirm } from '../../parts/confirm.tsx';
import type { RunModel } from './run-model.ts';

export function RunControls({ model, disabledBecause }: { model: RunModel; disabledBecause: string | null }) {
  const queries = useQueryClient();
  const { orchestrator, state, isConducted, working } = model;
  const say = async (word: 'pause' | 'resume' | 'cancel'): Promise<void> => {
    await postJson(`/api/runs/${encodeURIComponent(orchestrator)}/${word}`);
    await queries.invalidateQueries({ queryKey: ['run', orchestrator] });
  };
  const over = state === 'completed' || state === 'canceled' ? `The run is ${state}.` : null;
  const because = disabledBecause ?? over;
  const foreign = !isConducted && (
    <p className="text-muted">
      Somebody else conducts this run: svc writes your word into the log, and whether it is heeded is up to
      them.
    </p>
  );
  return (
    <>
      {state === 'paused' ? (
        <Confirm
          trigger={
            <>
              <CirclePlay aria-hidden="true" className="size-4" />
              Resume
            </>
          }
          title={`Resume ${orchestrator}`}
          label="Resume the run"
          disabledBecause={because}
          onConfirm={() => say('resume')}
        >
          <p>Workers are started again as places become free.</p>
          {foreign}
        </Confirm>
      ) : (
        <Confirm
          trigger={
            <>
              <CirclePause aria-hidden="true" className="size-4" />
              Pause
            </>
          }
          title={`Pause ${orchestrator}`}
          label="Pause the run"
          disabledBecause={because}
          onConfirm={() => say('pause')}
        >
          <p>
            No new worker is started.{' '}
            {working === 0 ? 'None works now.' : `The ${working} that work now go on.`}
          </p>
          {foreign}
        </Confirm>
      )}
      <Confirm
        trigger={
          <>
            <CircleStop aria-hidden="true" className="size-4" />
            Cancel
          </>
        }
        title={`Cancel ${orchestrator}`}
        label="Cancel the run"
        disabledBecause={because}
        onConfirm={() => say('cancel')}
      >
        <p>
          The run is over, and the {working === 1 ? 'worker' : `${working} workers`} at work{' '}
          {working === 1 ? 'is' : 'are'} ended. Pull requests and worktrees stay. A ticket of it can be
          started again later.
        </p>
        {foreign}
      </Confirm>
    </>
  );
}
