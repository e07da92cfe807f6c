// How a person stops an agent, and lets it go on.
import { CircleStop, Play } from 'lucide-react';
import type { WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { Button } from '../../parts/button.tsx';
import { useSending } from '../answer/use-sending.ts';

export function Steering({
  agent: { state },
  disabledBecause,
  onStop,
  onResume,
}: {
  agent: WorkerAgent;
  disabledBecause: string | null;
  onStop: () => Promise<unknown>;
  onResume: () => Promise<unknown>;
}) {
  const { busy, failure, send } = useSending();
  const canResume = state === 'idle' || state === 'ended';
  const [Icon, label, act] = canResume
    ? ([Play, 'Resume', onResume] as const)
    : ([CircleStop, 'Stop', onStop] as const);
  return (
    <>
      {failure && (
        <span role="alert" className="text-broken text-small">
          {failure.message}
        </span>
      )}
      <Button
        disabled={busy || disabledBecause !== null}
        title={
          disabledBecause ??
          (canResume
            ? 'Send “Continue.” to the agent'
            : 'Stop what the agent is doing, and cancel its open requests')
        }
        onClick={() => void send(act)}
      >
        <Icon aria-hidden="true" className="size-4" />
        {label}
      </Button>
    </>
  );
}
