// The conversations of the attempts of a ticket: the newest one live, and the earlier ones as they were.
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Conversation } from './conversation.tsx';

/** How many attempts are offered, the newest. */
const MOST_ATTEMPTS = 20;

/** The conversation of the newest attempt, or of an earlier one that was chosen. */
export function Attempts({
  ticket,
  run,
  newest,
  children,
}: {
  ticket: string;
  run: string;
  newest: number;
  children: ReactNode;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  if (newest <= 1) return children;
  return (
    <>
      <div className="flex flex-wrap items-center gap-1 border-line border-b px-4 py-2">
        {Array.from({ length: newest }, (_, index) => index + 1)
          .slice(-MOST_ATTEMPTS)
          .map((attempt) => {
            const isShown = attempt === (chosen ?? newest);
            return (
              <Button
                key={attempt}
                quiet
                aria-pressed={isShown}
                onClick={() => setChosen(attempt === newest ? null : attempt)}
                className={isShown ? 'bg-sunken' : 'text-muted'}
              >
                Attempt {attempt}
              </Button>
            );
          })}
      </div>
      {chosen === null ? children : <Earlier ticket={ticket} run={run} attempt={chosen} />}
    </>
  );
}

function Earlier({ ticket, run, attempt }: { ticket: string; run: string; attempt: number }) {
  const { data, error } = useQuery({
    queryKey: ['agent-attempt', run, ticket, attempt],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/agent', {
        params: { ticket },
        query: { orchestrator: run, attempt },
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined)
    return (
      <div className="p-4">
        {error === null ? <Loading what={`attempt ${attempt}`} /> : <Failed error={error} />}
      </div>
    );
  if (data.items.length === 0)
    return <p className="p-4 text-muted">svc has no conversation of attempt {attempt}.</p>;
  return (
    <Conversation key={data.instanceId} items={data.items} earlier={data.dropped} journal={data.journal} />
  );
}
