// Why the ticket is in its state: the rule, what it is waiting for, the facts, inconsistencies and unknowns.
import { ruleWithAge } from '@svc/contract/worker-statuses';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CircleHelp, Download, Eye, type LucideIcon, Quote, TriangleAlert, User } from 'lucide-react';
import { useState } from 'react';
import type { Why } from 'svc-monitor/src/features/workers/api.ts';
import { client } from '../../api/client.ts';
import { useNow } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { clockWords, durationWords, exactWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

/** The newest facts; the others are shown on request. */
const FACTS_SHOWN = 8;

export function WhyPanel({
  ticket,
  run,
  machine,
}: {
  ticket: string;
  run: string | undefined;
  machine?: string | undefined;
}) {
  const { data, error, refetch } = useWhy(ticket, run, machine);
  return (
    <Panel title="Why it is in this state">
      {data !== undefined ? (
        <Reasons why={data} />
      ) : error !== null ? (
        <Failed error={error} again={() => void refetch()} />
      ) : (
        <Loading what="the explanation" />
      )}
    </Panel>
  );
}

function Reasons({ why }: { why: Why }) {
  const now = useNow();
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-1">
        {why.from !== undefined && (
          <p className="text-muted text-small">
            <OutsideText>{`${why.from.machine} (${why.from.person})`}</OutsideText> says; not checked here
          </p>
        )}
        <p className="text-lead text-ink">
          <OutsideText>{ruleWithAge(why, (at) => `${durationWords(now - Date.parse(at))} ago`)}</OutsideText>
        </p>
        {why.waitsFor !== null && (
          <p className="text-muted">
            Waiting for <OutsideText className="text-text">{why.waitsFor}</OutsideText>
            <Until until={why.until} />
          </p>
        )}
      </div>
      {why.contradictions.length > 0 && (
        <ul
          aria-label="Inconsistencies"
          className="flex flex-col gap-1.5 rounded-control bg-you-soft px-3 py-2 text-small text-you"
        >
          {why.contradictions.map((text) => (
            <li key={text} className="flex gap-2">
              <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
              <OutsideText>{text}</OutsideText>
            </li>
          ))}
        </ul>
      )}
      {why.unknown.length > 0 && (
        <ul
          aria-label="Unknown"
          className="flex flex-col gap-1.5 rounded-control border border-unknown-mark border-dashed px-3 py-2 text-small text-unknown"
        >
          {why.unknown.map((text) => (
            <li key={text} className="flex gap-2">
              <CircleHelp aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
              <OutsideText>{text}</OutsideText>
            </li>
          ))}
        </ul>
      )}
      <Facts facts={why.facts} />
    </div>
  );
}

function Until({ until }: { until: string | null }) {
  const now = useNow();
  if (until === null) return <>.</>;
  const time = Date.parse(until);
  const left = time - now;
  return (
    <>
      , until{' '}
      <time dateTime={until} title={exactWords(time)} className="text-text">
        {clockWords(time, now)}
      </time>{' '}
      ({left > 0 ? `${durationWords(left)} left` : `passed ${durationWords(-left)} ago`}).
    </>
  );
}

/** How a fact is known. It has no colour: an observed failure is not a success. */
const grades: Record<Why['facts'][number]['source'], { icon: LucideIcon; words: string }> = {
  observed: { icon: Eye, words: 'observed' },
  fetched: { icon: Download, words: 'fetched' },
  claimed: { icon: Quote, words: 'claimed' },
  person: { icon: User, words: 'by a person' },
};

function Facts({ facts }: { facts: Why['facts'] }) {
  const [all, setAll] = useState(false);
  const shown = all ? facts : facts.slice(-FACTS_SHOWN);
  const left = facts.length - shown.length;
  if (facts.length === 0) return <p className="text-small text-muted">No facts recorded yet.</p>;
  return (
    <div className="flex flex-col">
      {left > 0 && (
        <Button quiet className="self-start" onClick={() => setAll(true)}>
          Show {left} earlier {left === 1 ? 'fact' : 'facts'}
        </Button>
      )}
      <ol aria-label="Facts, newest last">
        {shown.map(({ at, seq, source, text }) => {
          const { icon: Icon, words } = grades[source];
          return (
            <li
              key={`${seq}${at}${text}`}
              className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 border-line border-t py-1.5 text-small"
            >
              <span className="w-24 shrink-0 text-tiny whitespace-nowrap text-muted">
                {at === null ? 'time unknown' : <Age at={at} />}
              </span>
              <span className="min-w-40 flex-1 text-text">
                <OutsideText>{text}</OutsideText>
              </span>
              <span className="flex items-center gap-2">
                <span
                  className={classNames(
                    'inline-flex items-center gap-1 text-tiny',
                    source === 'claimed' || source === 'person' ? 'text-unknown italic' : 'text-muted',
                  )}
                >
                  <Icon aria-hidden="true" className="size-3.5" />
                  {words}
                </span>
                {seq !== null && <EventLink seq={seq} />}
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** The explanation of the ticket's state, shared by all parts of the screen. */
export function useWhy(ticket: string, run: string | undefined, machine?: string) {
  return useQuery({
    queryKey: ['ticket', ticket, 'why', run, machine],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/why', {
        params: { ticket },
        query: { orchestrator: run, machine },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}
