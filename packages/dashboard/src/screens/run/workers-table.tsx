// The workers of a run as a sortable table. Only the visible rows are rendered.
import { workerStatuses } from '@svc/contract/worker-statuses';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { runCostText } from 'svc-monitor/src/features/agents/cost.ts';
import { verificationLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { Age } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Cell, Column, rowClass } from '../../parts/table.tsx';
import { WorkerActions } from '../ticket/worker-actions.tsx';
import type { RunModel, RunRow, RunTicket } from './run-model.ts';

// The order of the table. Tickets that need a person come first; unknown values come last in both directions.

export type SortBy = 'ticket' | 'status' | 'age' | 'cost';
export type Sort = { by: SortBy; down: boolean };

const urgency: readonly Meaning[] = ['you', 'broken', 'motion', 'review', 'proven', 'unknown'];

export function sortTickets(tickets: readonly RunTicket[], { by, down }: Sort): RunTicket[] {
  const sign = down ? -1 : 1;
  return tickets.toSorted((one, other) => {
    const [a, b] = [valueOf(one, by), valueOf(other, by)];
    if (a === null || b === null) return a === b ? byName(one, other) : a === null ? 1 : -1;
    return sign * (a - b) || byName(one, other);
  });
}

function valueOf(ticket: RunTicket, by: SortBy): number | null {
  if (by === 'cost') return ticket.costUsd;
  if (by === 'age') return ticket.since === null ? null : -Date.parse(ticket.since);
  if (by === 'ticket') return null;
  if (ticket.status === null) return null;
  const index = workerStatuses.findIndex((status) => status === ticket.status);
  return urgency.indexOf(ticket.label.meaning) * 100 + (index < 0 ? 99 : index);
}

/** `A-2` comes before `A-10`. */
function byName(one: RunTicket, other: RunTicket): number {
  return one.ticket.localeCompare(other.ticket, 'en', { numeric: true });
}

const ROW_HEIGHT = 52;

export function WorkersTable({
  model,
  row,
  disabledBecause,
}: {
  model: RunModel;
  row: RunRow | null;
  disabledBecause: string | null;
}) {
  const [sort, setSort] = useState<Sort>({ by: 'status', down: false });
  const tickets = useMemo(() => sortTickets(model.tickets, sort), [model.tickets, sort]);
  const frame = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: tickets.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => tickets[index]?.ticket ?? index,
    overscan: 10,
  });
  const shown = rows.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const head = (by: SortBy, words: string, number = false) => (
    <Column
      number={number}
      sort={sort.by === by ? (sort.down ? 'descending' : 'ascending') : null}
      onSort={() => setSort({ by, down: sort.by === by ? !sort.down : by === 'age' || by === 'cost' })}
    >
      {words}
    </Column>
  );
  return (
    <Panel title={`Tickets (${model.tickets.length})`} flush>
      <section
        ref={frame}
        aria-label="Tickets of the run"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
        tabIndex={0}
        className="max-h-[43rem] overflow-auto"
      >
        <table className="w-full border-collapse text-left text-small" aria-rowcount={tickets.length + 1}>
          <thead className="sticky top-0 z-10 bg-surface">
            <tr className="border-line border-b text-tiny text-muted">
              {head('ticket', 'Ticket')}
              {head('status', 'Status')}
              {head('age', 'In status', true)}
              <Column number className="max-full:hidden">
                Wave
              </Column>
              <Column className="max-wide:hidden">Pull request</Column>
              <Column className="max-full:hidden">Verification</Column>
              {head('cost', 'Cost', true)}
              <Column>
                <span className="sr-only">Actions</span>
              </Column>
            </tr>
          </thead>
          <tbody>
            {above > 0 && <tr aria-hidden="true" style={{ height: above }} />}
            {shown.map(({ index, key }) => {
              const ticket = tickets[index];
              return (
                ticket && (
                  <Row
                    key={key}
                    ticket={ticket}
                    run={model.orchestrator}
                    row={row}
                    index={index}
                    disabledBecause={disabledBecause}
                  />
                )
              );
            })}
            {below > 0 && <tr aria-hidden="true" style={{ height: below }} />}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}

function Row({
  ticket,
  run,
  row,
  index,
  disabledBecause,
}: {
  ticket: RunTicket;
  run: string;
  row: RunRow | null;
  index: number;
  disabledBecause: string | null;
}) {
  const { worker, label } = ticket;
  const verification = worker?.verification ?? null;
  const verified = verificationLabel(verification?.state ?? null, verification?.advisory);
  return (
    <tr className={rowClass} aria-rowindex={index + 2} style={{ height: ROW_HEIGHT }}>
      <Cell className="min-w-52 max-w-96 max-wide:min-w-36 max-wide:max-w-40">
        <span className="flex min-w-0 flex-col">
          <Link
            to="/tickets/$ticket"
            params={{ ticket: ticket.ticket }}
            search={{ run }}
            className="w-fit font-mono text-tiny font-medium text-ink underline decoration-line-strong underline-offset-2"
          >
            {ticket.ticket}
          </Link>
          <span
            className="truncate text-text"
            title={ticket.title === null ? undefined : shownText(ticket.title)}
          >
            <OutsideText>{ticket.title ?? 'Title unknown'}</OutsideText>
          </span>
        </span>
      </Cell>
      <Cell className="whitespace-nowrap">
        <Pill meaning={label.meaning}>{label.words}</Pill>
      </Cell>
      <Cell number>
        {ticket.since === null ? <span className="text-muted">not started</span> : <Age at={ticket.since} />}
      </Cell>
      <Cell number className="max-full:hidden">
        {ticket.wave ?? <span className="text-muted">none yet</span>}
      </Cell>
      <Cell className="whitespace-nowrap max-wide:hidden">
        {ticket.pr === null ? (
          <span className="text-muted">none yet</span>
        ) : (
          <OutsideLink href={ticket.pr.url}>#{ticket.pr.number}</OutsideLink>
        )}
      </Cell>
      <Cell className="whitespace-nowrap max-full:hidden">
        {verification === null ? (
          <span className="text-muted">none yet</span>
        ) : (
          <Pill meaning={verified.meaning}>{verified.words}</Pill>
        )}
      </Cell>
      <Cell number>
        {ticket.costUsd === null ? <span className="text-muted">unknown</span> : runCostText(ticket)}
      </Cell>
      <Cell>
        <span className="flex justify-end gap-1 whitespace-nowrap">
          {worker && (
            <WorkerActions worker={worker} run={row} disabledBecause={disabledBecause} only="worker-retry" />
          )}
        </span>
      </Cell>
    </tr>
  );
}
