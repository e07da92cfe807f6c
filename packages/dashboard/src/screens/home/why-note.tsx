// Why a card stands where it stands: the rule, what it waits for and until when, what does not agree.
import type { BoardCard } from '@svc/core';
import { useNow } from '../../live/live.tsx';
import { clockWords } from '../../parts/time-words.ts';

export function WhyNote({ card }: { card: BoardCard }) {
  const now = useNow();
  const { worker, pullRequest, attention } = card;
  const reasons = worker === null ? (pullRequest?.readiness.reasons ?? []) : [];
  return (
    <div className="flex flex-col gap-1.5">
      <p className="font-medium text-ink">{worker?.rule ?? 'No run has a worker for it.'}</p>
      {worker?.waitsFor && (
        <p>
          Waits for {worker.waitsFor}
          {worker.until !== null && <>, until {clockWords(Date.parse(worker.until), now)}</>}.
        </p>
      )}
      {worker === null && pullRequest !== null && (
        <p>
          {pullRequest.readiness.ready === true
            ? 'It is ready to be merged.'
            : `Not merged: ${reasons.length === 0 ? 'nobody said why' : reasons.join(', ')}.`}
        </p>
      )}
      {worker?.error && <p className="text-broken">{worker.error}</p>}
      {attention.map(({ id, message }) => (
        <p key={id} className="text-you">
          {message}
        </p>
      ))}
      {worker?.contradictions.map((contradiction) => (
        <p key={contradiction} className="text-muted">
          Does not agree: {contradiction}
        </p>
      ))}
    </div>
  );
}
