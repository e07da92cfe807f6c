// One event in full: its scope, the command that waits for the next matching one, and the JSON in the log.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { client } from '../../api/client.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { Button, CopyButton } from '../../parts/button.tsx';
import { exactWords } from '../../parts/format.ts';
import { viaWords } from '../../parts/line-gist.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { waitForLine } from './wait-for-command.ts';

export function EventDetail({
  seq,
  known,
  close,
}: {
  seq: number;
  known: EventLine | undefined;
  close: () => void;
}) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['events', 'line', seq],
    queryFn: async ({ signal }) => {
      const page = await client.get('/api/events', {
        query: { since: String(seq - 1), order: 'oldest-first', limit: 1 },
        signal,
      });
      return page.events.find((line) => line.seq === seq) ?? null;
    },
    enabled: known === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const line = known ?? data;
  return (
    <aside
      aria-label={`Event ${seq}`}
      className="flex min-w-0 flex-col gap-4 overflow-y-auto rounded-card border border-line bg-surface p-4 max-full:fixed max-full:inset-x-0 max-full:bottom-0 max-full:z-30 max-full:max-h-[70dvh] max-full:rounded-b-none max-full:shadow-float full:max-h-[calc(100dvh-19rem)]"
    >
      <header className="flex items-center justify-between gap-2">
        <h2 className="text-body">Event {seq}</h2>
        <Button quiet onClick={close} aria-label="Close (Esc)">
          <X aria-hidden="true" className="size-4" />
        </Button>
      </header>
      {line === undefined && isFetching && <Loading what={`event ${seq}`} />}
      {error && <Failed error={error} />}
      {line === null && <Empty title={`Event ${seq} does not exist.`} />}
      {line && <Line line={line} />}
    </aside>
  );
}

function Line({ line }: { line: EventLine }) {
  const { scope } = line;
  const wait = waitForLine(line);
  return (
    <>
      <dl className="grid grid-cols-[6rem_1fr] gap-x-4 gap-y-1 text-small">
        <Fact name="Topic">{line.event}</Fact>
        <Fact name="Recorded">{exactWords(Date.parse(line.ts))}</Fact>
        {line.occurredAt !== undefined && (
          <Fact name="Occurred">{exactWords(Date.parse(line.occurredAt))}</Fact>
        )}
        <Fact name="Source">
          {line.source}, {line.via}: {viaWords(line.via)}
        </Fact>
        {line.actor && (
          <Fact name="Actor">
            <OutsideText>{line.actor.login}</OutsideText>
          </Fact>
        )}
        {scope.ticket !== undefined && (
          <Fact name="Ticket">
            <Link
              to="/tickets/$ticket"
              params={{ ticket: scope.ticket }}
              className="underline underline-offset-2"
            >
              {scope.ticket}
            </Link>
          </Fact>
        )}
        {scope.orchestrator !== undefined && (
          <Fact name="Run">
            <Link
              to="/runs/$run"
              params={{ run: scope.orchestrator }}
              className="underline underline-offset-2"
            >
              {scope.orchestrator}
            </Link>
          </Fact>
        )}
      </dl>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={wait} label="Copy wait-for command" />
        <CopyButton text={JSON.stringify(line)} label="Copy JSON" />
        <Link
          to="/"
          search={{ at: String(line.seq) }}
          className="inline-flex h-8 items-center px-2.5 text-small font-medium underline underline-offset-2"
        >
          Board at this time
        </Link>
      </div>
      <code className="rounded-control bg-sunken p-2 text-tiny break-all text-text">{wait}</code>
      <pre
        tabIndex={0}
        className="overflow-x-auto rounded-control bg-sunken p-3 text-tiny leading-5 whitespace-pre-wrap text-text [overflow-wrap:anywhere]"
      >
        {shownText(JSON.stringify(line, null, 2))}
      </pre>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words text-ink">{children}</dd>
    </>
  );
}
