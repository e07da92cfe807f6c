// Open tickets that are in no run, each with a button that starts one.
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { openTickets } from 'svc-monitor/src/features/tracker/dependencies.ts';
import { useBoard, useDisabledBecause } from '../../live/live.tsx';
import { Ago } from '../../parts/age.tsx';
import { Button } from '../../parts/button.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StartButton } from '../start/start-dialog.tsx';

const FIRST = 20;

type TicketRow = BoardView['tickets'][number];

/** Nothing while the tracker has reported no open ticket. */
export function OpenTickets({
  first = FIRST,
  className = '',
  isListed = () => true,
}: {
  first?: number;
  className?: string;
  isListed?: (ticket: TicketRow) => boolean;
}) {
  const { board } = useBoard();
  const disabledBecause = useDisabledBecause();
  const [all, setAll] = useState(false);
  const open = useMemo(
    () => openTickets({ tickets: board.tickets.values(), runs: board.runs.values() }),
    [board],
  );
  const tickets = open.filter(isListed);
  if (tickets.length === 0) return null;
  const shown = all ? tickets : tickets.slice(0, first);
  return (
    <Panel title={`Open tickets without a run (${tickets.length})`} className={className} flush>
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
        <StartButton ticket={row} disabledBecause={disabledBecause} label="Start a run" />
      </div>
    </li>
  );
}
