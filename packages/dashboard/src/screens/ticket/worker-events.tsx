// The newest lines of the ticket, live.
import type { EventLine } from '@svc/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { getJson, path } from '../../api/client.ts';
import { Age } from '../../parts/age.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { lineGist } from './line-gist.ts';
import { newestLines } from './newest-lines.ts';
import { useTicketLines } from './use-ticket-lines.ts';

const SHOWN = 50;

export function WorkerEvents({ ticket }: { ticket: string }) {
  const [came, setCame] = useState<EventLine[]>([]);
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket-events', ticket],
    queryFn: ({ signal }) =>
      getJson<{ events: EventLine[] }>(path('/api/events', { ticket, limit: SHOWN }), signal),
  });
  useTicketLines(ticket, undefined, (lines) => setCame((before) => [...before, ...lines].slice(-SHOWN)));
  const lines = newestLines(data?.events ?? [], came, SHOWN);
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
        <p className="p-4 text-muted">No line names this ticket.</p>
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
