// How a person steers an agent: a message, stop, resume.
import type { WorkerAgent } from '@svc/core';
import { CircleStop, Play, SendHorizontal } from 'lucide-react';
import { useId } from 'react';
import { AgentText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Failed } from '../../parts/states.tsx';
import { LONGEST_MESSAGE, sends, useDraft } from '../answer/reply.tsx';
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

export function Composer({
  waiting,
  isBusy,
  disabledBecause,
  onSend,
}: {
  waiting: readonly string[];
  isBusy: boolean;
  disabledBecause: string | null;
  onSend: (text: string, key: string) => Promise<{ queued: string }>;
}) {
  const { text, write, submit, busy, failure, result } = useDraft(onSend, disabledBecause !== null);
  const id = useId();
  return (
    <form
      aria-label="Send a message"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      className="flex flex-col gap-2 border-line border-t px-4 py-3"
    >
      {waiting.length > 0 && (
        <ul aria-label="Queued messages" className="flex flex-col gap-1">
          {waiting.map((message, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: a queue, and messages may be equal.
              key={index}
              className="flex gap-3 rounded-control border border-line-strong border-dashed px-3 py-1.5 text-small"
            >
              <span className="shrink-0 text-muted">Queued</span>
              <AgentText text={message.slice(0, 1_000)} className="max-h-24 overflow-hidden" />
            </li>
          ))}
        </ul>
      )}
      <label htmlFor={id} className="text-muted text-small">
        Send a message
      </label>
      <textarea
        id={id}
        rows={2}
        value={text}
        maxLength={LONGEST_MESSAGE}
        disabled={disabledBecause !== null}
        title={disabledBecause ?? undefined}
        onChange={({ target }) => write(target.value)}
        onKeyDown={(event) => {
          if (!sends(event)) return;
          event.preventDefault();
          void submit();
        }}
        className="field-sizing-content max-h-60 min-h-16 w-full resize-y rounded-control border border-line-strong bg-surface px-3 py-2 text-body text-text"
      />
      {failure && <Failed error={failure} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" loud disabled={disabledBecause !== null || busy || text.trim() === ''}>
          <SendHorizontal aria-hidden="true" className="size-3.5" />
          {busy ? 'Sending' : 'Send'}
        </Button>
        <span role="status" className="text-muted text-small">
          {result ??
            (isBusy
              ? 'The agent is busy: it gets the message when it is idle, or at once if it can.'
              : 'Enter sends it, Shift+Enter starts a line.')}
        </span>
      </div>
    </form>
  );
}
