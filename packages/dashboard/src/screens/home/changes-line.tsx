// "12 changes since 09:40": what changed since this browser last showed the board. Collapsed until opened.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, ChevronDown, X } from 'lucide-react';
import { Collapsible } from 'radix-ui';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { reasonWords } from 'svc-monitor/src/features/attention/reason-words.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { statusWords } from 'svc-monitor/src/features/workers/worker-label.ts';
import { client } from '../../api/client.ts';
import { boardOf } from '../../live/board-store.ts';
import { useLiveBoard, useNow } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';

// The differences between two boards, by ticket.

type Entities = {
  [Kind in 'workers' | 'pullRequests' | 'attention' | 'tickets']: ReadonlyMap<
    string,
    BoardView[Kind][number]
  >;
};

export type BoardDifference = {
  /** The ticket, else the name of the pull request or the feed. */
  subject: string;
  ticket: string | null;
  run: string | null;
  title: string | null;
  changes: { what: string; from: string | null; to: string; needsYou: boolean }[];
  /** Its newest event. */
  lastSeq: number;
};

export function boardDifferences(before: Entities, after: Entities): BoardDifference[] {
  const found = new Map<string, BoardDifference>();
  const titles = new Map([...after.tickets.values()].map((one) => [one.ticket.toUpperCase(), one.title]));

  const note = (
    about: { subject: string; ticket: string | null; run?: string | null; title?: string | null },
    change: BoardDifference['changes'][number],
    seq: number,
  ): void => {
    const key = about.subject.toUpperCase();
    const known = found.get(key);
    if (known === undefined)
      found.set(key, {
        subject: about.subject,
        ticket: about.ticket,
        run: about.run ?? null,
        title: titles.get(about.ticket?.toUpperCase() ?? '') ?? about.title ?? null,
        changes: [change],
        lastSeq: seq,
      });
    else {
      known.changes.push(change);
      known.lastSeq = Math.max(known.lastSeq, seq);
    }
  };

  for (const [key, worker] of after.workers) {
    const [from, to] = [stateOf(before.workers.get(key)), stateOf(worker)];
    if (from === to || to === null) continue;
    const { ticket, orchestrator: run, statusSeq } = worker;
    note({ subject: ticket, ticket, run }, { what: 'Agent', from, to, needsYou: false }, statusSeq);
  }
  for (const [key, { ticket, name, state, title, lastSeq }] of after.pullRequests) {
    const from = before.pullRequests.get(key)?.state ?? null;
    if (from === state) continue;
    const what = `Pull request ${name}`;
    note({ subject: ticket ?? name, ticket, title }, { what, from, to: state, needsYou: false }, lastSeq);
  }
  for (const [id, { ticket, feed, orchestrator: run, message, openedSeq }] of after.attention) {
    if (before.attention.get(id)?.openedSeq === openedSeq) continue;
    const subject = ticket ?? (feed === null ? 'svc' : `${feed} feed`);
    note({ subject, ticket, run }, { what: 'Needs you', from: null, to: message, needsYou: true }, openedSeq);
  }
  for (const [id, { ticket, feed, orchestrator: run, reason, openedSeq }] of before.attention) {
    if (after.attention.has(id)) continue;
    const subject = ticket ?? (feed === null ? 'svc' : `${feed} feed`);
    const to = `${reasonWords(reason)}: resolved`;
    note({ subject, ticket, run }, { what: 'Attention', from: null, to, needsYou: false }, openedSeq);
  }
  return [...found.values()].toSorted((one, other) => other.lastSeq - one.lastSeq);
}

/** The number of changes, not of tickets. */
export function countOf(differences: readonly BoardDifference[]): number {
  return differences.reduce((sum, { changes }) => sum + changes.length, 0);
}

/** Null without a worker. */
function stateOf(worker: BoardView['workers'][number] | undefined): string | null {
  if (worker === undefined) return null;
  return worker.removed ? 'No longer tracked' : statusWords(worker.status);
}

// What this browser has shown. While the page is visible, the newest event counts as seen; when the user leaves, it is
// stored and compared with on return.

const KEY = 'svc.seen';
const WRITE_EVERY_MS = 5_000;
/** A shorter absence does not count. */
const AWAY_MS = 60_000;

/** `at` is the time of the event: the same seq with another time belongs to another log. */
type Seen = { seq: number; at: string };

function readSeen(): Seen | null {
  const [, seq, at] = /^(\d+) (\S+)$/.exec(localStorage.getItem(KEY) ?? '') ?? [];
  return seq === undefined || at === undefined ? null : { seq: Number(seq), at };
}

function writeSeen({ seq, at }: Seen): void {
  localStorage.setItem(KEY, `${seq} ${at}`);
}

/** What was seen before this visit, until it is dismissed. */
function useLastSeen(newest: Seen | null): { since: Seen | null; dismiss: () => void } {
  const [since, setSince] = useState(readSeen);
  const now = useRef(newest);
  now.current = newest;
  const isThere = newest !== null;

  useEffect(() => {
    if (!isThere) return undefined;
    let leftAt: number | null = null;
    const keep = (): void => {
      if (now.current !== null) writeSeen(now.current);
    };
    const onVisibility = (): void => {
      if (document.visibilityState === 'hidden') {
        keep();
        leftAt = Date.now();
      } else if (leftAt !== null && Date.now() - leftAt > AWAY_MS) setSince(readSeen());
    };
    if (document.visibilityState === 'visible') keep();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') keep();
    }, WRITE_EVERY_MS);
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [isThere]);

  const dismiss = useCallback(() => setSince(null), []);
  return { since, dismiss };
}

const MOST_SHOWN = 100;

export function ChangesLine() {
  const board = useLiveBoard();
  const { seq, at } = board;
  const { since, dismiss } = useLastSeen(seq === null || at === null ? null : { seq, at });
  const isBehind = since !== null && seq !== null && since.seq < seq;
  const { data: past } = useQuery({
    queryKey: ['board-seen', since?.seq],
    queryFn: ({ signal }) =>
      client.get('/api/board', { query: { at: since?.seq.toString(), settled: '7d' }, signal }),
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
        <Button quiet onClick={dismiss} aria-label="Dismiss these changes" title="Dismiss">
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
            {what !== 'Agent' && (
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
