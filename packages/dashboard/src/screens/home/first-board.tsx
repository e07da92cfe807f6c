// What a new user sees on the board until the first agent works: the open tickets, what is ready for them, and the command
// to run next.
import type { FirstStep } from '@svc/core/browser';
import { firstSteps, nextCommand, openTickets } from '@svc/core/browser';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleDashed, X } from 'lucide-react';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useBoard, useHealth } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { OpenTickets } from '../runs/open-tickets.tsx';

const HIDDEN = 'svc.first-board';
const MOST_TICKETS = 5;
const AGAIN_MS = 30_000;

/** `project`: its folder, when there is only one. */
export function FirstBoard({ project }: { project: string | undefined }) {
  const { board } = useBoard();
  const { data: health } = useHealth();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) === 'hidden');
  const { data } = useQuery({
    queryKey: ['agents', project ?? null],
    queryFn: ({ signal }) => client.get('/api/agents', { query: { project }, signal }),
    refetchInterval: AGAIN_MS,
    enabled: !isHidden,
  });
  if (isHidden) return null;
  const known = { agents: data?.agents, feeds: health?.sources };
  const tickets = openTickets({ tickets: board.tickets.values(), runs: board.runs.values() });
  const hide = (): void => {
    localStorage.setItem(HIDDEN, 'hidden');
    setHidden(true);
  };
  return (
    <section aria-labelledby="first-board" className="mb-6 rounded-card border border-line bg-surface p-4">
      <header className="flex items-start justify-between gap-3">
        <div>
          <h2 id="first-board" className="text-lead">
            Start your first agent
          </h2>
          <p className="mt-1 text-small text-muted">
            Every ticket that an agent works on appears here as a card. This goes away once one does.
          </p>
        </div>
        <Button quiet onClick={hide}>
          <X aria-hidden="true" className="size-3.5" />
          Hide
        </Button>
      </header>
      <div className="mt-4 grid items-start gap-4 full:grid-cols-2">
        <div className="min-w-0">
          {tickets.length > 0 ? (
            <OpenTickets first={MOST_TICKETS} />
          ) : (
            <p className="rounded-card border border-line p-4 text-small text-muted">
              No open ticket was seen yet. Open tickets appear here a few minutes after they are created.
            </p>
          )}
        </div>
        <div className="min-w-0 rounded-card border border-line p-4">
          {data !== undefined && (
            <p className="mb-3 flex flex-wrap items-center gap-x-2 gap-y-1 border-line border-b pb-3 text-small">
              <span className="font-medium">Next:</span>
              <Remedy text={nextCommand({ ...known, ticket: tickets[0]?.ticket })} />
            </p>
          )}
          <ul aria-label="What is ready" className="flex flex-col gap-3">
            {data !== undefined && firstSteps(known).map((step) => <Step key={step.part} {...step} />)}
          </ul>
        </div>
      </div>
    </section>
  );
}

const icons = {
  ready: [CircleCheck, 'text-proven'],
  missing: [CircleAlert, 'text-you'],
  unknown: [CircleDashed, 'text-muted'],
} as const;

function Step({ state, words, remedy }: FirstStep) {
  const [Icon, colour] = icons[state];
  return (
    <li className="flex gap-2 text-small">
      <Icon aria-hidden="true" className={classNames('mt-0.5 size-4 shrink-0', colour)} />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <span className="sr-only">{state}: </span>
        <OutsideText>{words}</OutsideText>
        {remedy !== null && (
          <div className="mt-1">
            <Remedy text={remedy} />
          </div>
        )}
      </div>
    </li>
  );
}
