// "12 changes since 09:40": what changed since this browser last looked. Quiet, until it is opened.
import type { BoardView } from '@svc/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, ChevronDown, X } from 'lucide-react';
import { Collapsible } from 'radix-ui';
import { useMemo } from 'react';
import { getJson, path } from '../../api/client.ts';
import { boardOf } from '../../live/board-store.ts';
import { useLiveBoard, useNow } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { clockWords } from '../../parts/time-words.ts';
import { type BoardDifference, boardDifferences, countOf } from './board-differences.ts';
import { useLastSeen } from './last-seen.ts';

const MOST_SHOWN = 100;

export function ChangesLine() {
  const board = useLiveBoard();
  const { seq, at } = board;
  const { since, dismiss } = useLastSeen(seq === null || at === null ? null : { seq, at });
  const isBehind = since !== null && seq !== null && since.seq < seq;
  const { data: past } = useQuery({
    queryKey: ['board-seen', since?.seq],
    queryFn: ({ signal }) =>
      getJson<BoardView>(path('/api/board', { at: since?.seq, settled: '7d' }), signal),
    enabled: isBehind,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const differences = useMemo(
    () =>
      isBehind && past !== undefined && past.at === since.at ? boardDifferences(boardOf(past), board) : [],
    [isBehind, past, since, board],
  );
  const count = countOf(differences);
  const now = useNow();
  if (since === null || count === 0) return null;
  return (
    <Collapsible.Root className="mb-4 rounded-card border border-line bg-surface">
      <div className="flex items-center gap-1 pr-1 pl-3">
        <Collapsible.Trigger className="group flex min-h-9 flex-1 items-center gap-2 text-left text-small text-muted hover:text-ink max-wide:min-h-11">
          {count === 1 ? '1 change' : `${count} changes`} since {clockWords(Date.parse(since.at), now)}
          <ChevronDown
            aria-hidden="true"
            className="size-4 transition-transform group-data-[state=open]:rotate-180"
          />
        </Collapsible.Trigger>
        <Button quiet onClick={dismiss} aria-label="I have seen these changes" title="I have seen these">
          <X aria-hidden="true" className="size-4" />
        </Button>
      </div>
      <Collapsible.Content>
        <ul className="max-h-96 overflow-y-auto border-line border-t px-3 py-1">
          {differences.slice(0, MOST_SHOWN).map((difference) => (
            <Difference key={difference.subject} {...difference} />
          ))}
          {differences.length > MOST_SHOWN && (
            <li className="py-1.5 text-tiny text-muted">and {differences.length - MOST_SHOWN} more</li>
          )}
        </ul>
      </Collapsible.Content>
    </Collapsible.Root>
  );
}

function Difference({ subject, ticket, run, title, changes }: BoardDifference) {
  return (
    <li className="flex flex-wrap gap-x-4 gap-y-0.5 border-line py-1.5 text-small not-last:border-b">
      <span className="flex min-w-0 gap-2 max-wide:w-full wide:w-72">
        {ticket === null ? (
          <span className="font-medium text-ink">{subject}</span>
        ) : (
          <Link
            to="/tickets/$ticket"
            params={{ ticket }}
            search={{ run: run ?? undefined }}
            className="shrink-0 font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
          >
            {subject}
          </Link>
        )}
        <OutsideText className="min-w-0 truncate text-muted">{title}</OutsideText>
      </span>
      <span className="flex min-w-0 flex-1 flex-col max-wide:basis-full">
        {changes.map(({ what, from, to, needsYou }) => (
          <span key={`${what}${to}`} className="flex min-w-0 flex-wrap items-center gap-x-1.5">
            {what !== 'Worker' && (
              <span className={classNames('text-tiny', needsYou ? 'font-medium text-you' : 'text-muted')}>
                {what}
              </span>
            )}
            {from !== null && <span className="text-muted">{from}</span>}
            {from !== null && (
              <>
                <ArrowRight aria-hidden="true" className="size-3.5 text-muted" />
                <span className="sr-only">to</span>
              </>
            )}
            <OutsideText className="text-text">{to}</OutsideText>
          </span>
        ))}
      </span>
    </li>
  );
}
