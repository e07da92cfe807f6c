// The changes in the worktree against its base. Comments on lines are collected and sent to the agent as one message.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import type { WorktreeChanges } from 'svc-monitor/src/features/agents/api.ts';
import { client } from '../../api/client.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { useSending } from '../answer/use-sending.ts';
import { type Comments, DiffList, keyOf, type LineComment, type OnComments, parsed } from './diff-list.tsx';

/** `ended`: how many tools that may change files have ended; the changes are loaded again when it grows. */
export function useChanges(ticket: string, run: string, ended: number) {
  const query = useQuery({
    queryKey: ['changes', ticket, run],
    queryFn: ({ signal }) =>
      client.get('/api/workers/{ticket}/changes', {
        params: { ticket },
        query: { orchestrator: run },
        signal,
      }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { refetch } = query;
  const loaded = useRef({ ended, at: Date.now() });
  useEffect(() => {
    if (loaded.current.ended === ended) return undefined;
    const wait = Math.max(0, loaded.current.at + REFRESH_EVERY_MS - Date.now());
    const timer = setTimeout(() => {
      loaded.current = { ended, at: Date.now() };
      void refetch();
    }, wait);
    return () => clearTimeout(timer);
  }, [ended, refetch]);
  return query;
}

const REFRESH_EVERY_MS = 3_000;

/** One message with all comments, as a person would quote them. */
function messageOf(comments: readonly LineComment[]): string {
  const parts = comments.map(({ path, line, isRemoved, of, text }) =>
    [`${path}:${line}${isRemoved ? ' (removed)' : ''}`, `> ${of}`, text.trim()].join('\n'),
  );
  return ['Comments on your changes:', ...parts].join('\n\n');
}

export function ChangesTab({
  changes: { data, error, isFetching, refetch },
  comments,
  onComments,
  disabledBecause,
  onSend,
}: {
  changes: ReturnType<typeof useChanges>;
  comments: Comments;
  onComments: OnComments;
  disabledBecause: string | null;
  /** Null when svc cannot talk to the agent: then there are no comments. */
  onSend: ((text: string) => Promise<unknown>) | null;
}) {
  if (data === undefined)
    return (
      <div className="p-4">
        {error === null ? (
          <Loading what="the changes" />
        ) : (
          <Failed error={error} again={() => void refetch()} />
        )}
      </div>
    );
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2 text-small">
        <span className="text-muted">
          {data.files.length === 0
            ? 'No changes'
            : `${data.files.length} changed ${data.files.length === 1 ? 'file' : 'files'}`}{' '}
          since <span className="from-outside font-mono text-text text-tiny">{shownText(data.base)}</span>{' '}
          <span className="font-mono text-tiny">{data.baseSha.slice(0, 12)}</span>
          {data.cut && '. There are more files than shown.'}
        </span>
        <Button quiet disabled={isFetching} onClick={() => void refetch()} className="ml-auto">
          <RefreshCw aria-hidden="true" className="size-3.5" />
          Refresh
        </Button>
      </div>
      {error !== null && (
        <div className="p-4">
          <Failed error={error} again={() => void refetch()} />
        </div>
      )}
      {onSend !== null && (
        <CommentBar
          comments={comments}
          onComments={onComments}
          data={data}
          disabledBecause={disabledBecause}
          onSend={onSend}
        />
      )}
      {data.files.length > 0 && (
        <DiffList
          files={data.files}
          comments={comments}
          onComments={onComments}
          canComment={onSend !== null && disabledBecause === null}
        />
      )}
    </div>
  );
}

function CommentBar({
  comments,
  onComments,
  data,
  disabledBecause,
  onSend,
}: {
  comments: Comments;
  onComments: OnComments;
  data: WorktreeChanges;
  disabledBecause: string | null;
  onSend: (text: string) => Promise<unknown>;
}) {
  const { busy, failure, send } = useSending();
  const written = [...comments.values()].filter(({ text }) => text.trim() !== '');
  const places = useMemo(
    () =>
      new Set(
        data.files.flatMap((file) =>
          parsed(file).flatMap((row) => ('before' in row ? `${keyOf(file, row)} ${row.text}` : [])),
        ),
      ),
    [data],
  );
  const moved = written.filter(({ key, of }) => !places.has(`${key} ${of}`));
  const sendAll = async (): Promise<void> => {
    if (await send(() => onSend(messageOf(written)))) onComments(() => new Map());
  };
  if (written.length === 0 && failure === null) return null;
  return (
    <section aria-label="Comments" className="flex flex-col gap-2 border-line border-b bg-ground px-4 py-2">
      {moved.length > 0 && (
        <ul aria-label="Comments on lines that have changed since" className="flex flex-col gap-1 text-small">
          {moved.map(({ key, path, line, text }) => (
            <li key={key} className="from-outside text-muted">
              {shownText(`${path}:${line}`)} (changed since): <span className="text-text">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {failure && <Failed error={failure} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          loud
          disabled={busy || disabledBecause !== null || written.length === 0}
          title={disabledBecause ?? undefined}
          onClick={() => void sendAll()}
        >
          {busy
            ? 'Sending'
            : `Send ${written.length} ${written.length === 1 ? 'comment' : 'comments'} to the agent`}
        </Button>
        <Button quiet disabled={busy} onClick={() => onComments(() => new Map())}>
          Discard
        </Button>
      </div>
    </section>
  );
}
