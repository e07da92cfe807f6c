// The newest events of the ticket, live.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { client } from '../../api/client.ts';
import { useLines } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { lineGist } from '../../parts/line-gist.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

/** Whether an event belongs to the ticket, in this run or without a run. */
export function isOfTicket(
  { scope }: Pick<EventLine, 'scope'>,
  ticket: string,
  run: string | undefined,
): boolean {
  if (scope.ticket?.toUpperCase() !== ticket.toUpperCase()) return false;
  return run === undefined || scope.orchestrator === undefined || scope.orchestrator === run;
}

/** A burst of events causes one call. */
const EVERY_MS = 400;

/** Calls `onLines` soon after events of the ticket arrived, in batches. */
function useTicketLines(
  ticket: string,
  run: string | undefined,
  onLines: (lines: EventLine[]) => void,
): void {
  const latest = useRef(onLines);
  latest.current = onLines;
  const waiting = useRef<EventLine[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLines((lines) => {
    const ours = lines.filter((line) => isOfTicket(line, ticket, run));
    if (ours.length === 0) return;
    waiting.current.push(...ours);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const arrived = waiting.current;
      waiting.current = [];
      latest.current(arrived);
    }, EVERY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

/** The loaded events and those that arrived since, each once, newest first. */
export function newestLines(
  loaded: readonly EventLine[],
  arrived: readonly EventLine[],
  most: number,
): EventLine[] {
  const bySeq = new Map([...loaded, ...arrived].map((line) => [line.seq, line]));
  return [...bySeq.values()].toSorted((one, other) => other.seq - one.seq).slice(0, most);
}

const SHOWN = 50;

export function WorkerEvents({ ticket }: { ticket: string }) {
  const [arrived, setArrived] = useState<EventLine[]>([]);
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket-events', ticket],
    queryFn: ({ signal }) => client.get('/api/events', { query: { ticket, limit: SHOWN }, signal }),
  });
  useTicketLines(ticket, undefined, (lines) => setArrived((before) => [...before, ...lines].slice(-SHOWN)));
  const lines = newestLines(data?.events ?? [], arrived, SHOWN);
  return (
    <Panel
      title="Events"
      flush
      aside={
        <Link
          to="/events"
          search={{ ticket }}
          className="text-small font-medium text-ink underline decoration-line-strong underline-offset-2"
        >
          All events of {ticket}
        </Link>
      }
    >
      {data === undefined ? (
        <div className="p-4">
          {error === null ? (
            <Loading what="the events" />
          ) : (
            <Failed error={error} again={() => void refetch()} />
          )}
        </div>
      ) : lines.length === 0 ? (
        <p className="p-4 text-muted">No events for this ticket.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
        <section
          aria-label={`The last ${lines.length} events`}
          tabIndex={0}
          className="max-h-96 overflow-y-auto"
        >
          <ol>
            {lines.map((line) => (
              <li
                key={line.seq}
                className="grid grid-cols-[5.5rem_1fr_auto] items-baseline gap-x-3 border-line border-b px-4 py-1.5 text-small last:border-b-0"
              >
                <Age at={line.ts} className="text-tiny whitespace-nowrap text-muted" />
                <span className="line-clamp-3 min-w-0 wrap-anywhere">
                  <span className="font-mono text-tiny text-ink">{line.event}</span>{' '}
                  <OutsideText className="text-muted">{lineGist(line)}</OutsideText>
                </span>
                <EventLink seq={line.seq} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </Panel>
  );
}
