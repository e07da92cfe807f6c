// Open tickets of the tracker that are in no run, each with a button that starts one.
import type { BoardView } from '@svc/core';
import { openTickets } from '@svc/core/browser';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { useBoard, useDisabledBecause } from '../../live/live.tsx';
import { Ago } from '../../parts/age.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';

const FIRST = 20;

type TicketRow = BoardView['tickets'][number];

/** Nothing while the tracker has reported no open ticket. */
export function OpenTickets() {
  const { board } = useBoard();
  const disabledBecause = useDisabledBecause();
  const [all, setAll] = useState(false);
  const tickets = useMemo(
    () => openTickets({ tickets: board.tickets.values(), runs: board.runs.values() }),
    [board],
  );
  if (tickets.length === 0) return null;
  const shown = all ? tickets : tickets.slice(0, FIRST);
  return (
    <Panel title={`Open tickets without a run (${tickets.length})`} className="mt-6" flush>
      <ul aria-label="Open tickets without a run, newest first">
        {shown.map((ticket) => (
          <TicketLine key={ticket.key} ticket={ticket} disabledBecause={disabledBecause} />
        ))}
      </ul>
      {shown.length < tickets.length && (
        <div className="border-line border-t p-3">
          <Button quiet onClick={() => setAll(true)}>
            Show all {tickets.length}
          </Button>
        </div>
      )}
    </Panel>
  );
}

function TicketLine({ ticket: row, disabledBecause }: { ticket: TicketRow; disabledBecause: string | null }) {
  const { ticket, title, state, assignee, lastAt, dispatch } = row;
  return (
    <li className="flex items-center justify-between gap-3 border-line border-b px-4 py-2.5 text-small last:border-b-0">
      <div className="min-w-0">
        <p className="[overflow-wrap:anywhere]">
          <Link
            to="/tickets/$ticket"
            params={{ ticket }}
            className="font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
          >
            <OutsideText>{ticket}</OutsideText>
          </Link>{' '}
          <OutsideText>{title ?? ''}</OutsideText>
        </p>
        <p className="text-tiny text-muted">
          <OutsideText>{state?.name ?? 'Unknown state'}</OutsideText>, assigned to{' '}
          <OutsideText>{assignee ?? 'nobody'}</OutsideText>, <Ago at={lastAt} />
        </p>
        {typeof dispatch?.reason === 'string' && (
          <p className="text-tiny text-muted [overflow-wrap:anywhere]">
            No run was started by <OutsideText>{`${dispatch.because}: ${dispatch.reason}`}</OutsideText>.
          </p>
        )}
      </div>
      <div className="shrink-0">
        <Confirm
          trigger={
            <>
              <Play aria-hidden="true" className="size-4" />
              Start a run
            </>
          }
          title={`Start a run for ${ticket}`}
          label="Start the run"
          disabledBecause={disabledBecause}
          onConfirm={() => client.post('/api/runs', { body: { tickets: [ticket] } })}
        >
          <p>
            An agent starts in a new worktree, with your permissions, and works on “
            <OutsideText>{title ?? ticket}</OutsideText>”.
          </p>
          <p className="text-muted">
            It follows the text of the ticket. Read it first if others can write tickets.
          </p>
        </Confirm>
      </div>
    </li>
  );
}
