// While an agent waits for a permission, this notice is on every screen: it names the ticket and shows what is asked, and
// answers it with one click or key. Of several it shows the oldest one that the screen itself has no keys for.
import { Link } from '@tanstack/react-router';
import { Hand } from 'lucide-react';
import { useRef } from 'react';
import type { AgentRequest, WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import type { LiveBoard } from '../live/board-store.ts';
import { useDisabledBecause, useLiveBoard } from '../live/live.tsx';
import { shownText } from '../parts/agent-text.tsx';
import { SessionAnswer, WorkerAnswer } from '../screens/answer/answer-box.tsx';
import { useClaimed } from '../screens/answer/answer-keys.ts';
import { subjectOf } from '../screens/attention/item-packet.tsx';
import { type Item, nameOf } from '../screens/attention/item-row.tsx';
import { useWaiting } from './needs-you.tsx';

type Row<Kind extends keyof LiveBoard> =
  LiveBoard[Kind] extends ReadonlyMap<string, infer Entity> ? Entity : never;
type Asking = { id: string; item: Item; agent: string; request: AgentRequest } & (
  | { worker: Row<'workers'> & { agent: WorkerAgent }; session?: never }
  | { session: Row<'sessions'>; worker?: never }
);

/** The permissions that wait for this person, the oldest first. */
function askingOf(
  waiting: readonly Item[],
  board: Pick<LiveBoard, 'workers' | 'sessions'>,
): readonly Asking[] {
  return waiting
    .filter(({ reason }) => reason === 'agent-needs-permission')
    .toSorted((one, other) => one.openedSeq - other.openedSeq)
    .flatMap((item): Asking[] => {
      const { worker, session } = subjectOf(item, board);
      const open = (worker?.agent?.protocol === true ? worker.agent.open : session?.open) ?? [];
      return open
        .filter(({ kind }) => kind === 'permission')
        .flatMap((request): Asking[] => {
          if (worker?.agent)
            return [
              {
                id: `${worker.orchestrator}/${worker.ticket} ${request.request}`,
                item,
                agent: worker.agent.name,
                request,
                worker: { ...worker, agent: { ...worker.agent, open: [request] } },
              },
            ];
          if (session === undefined) return [];
          const only = { ...session, open: [request] };
          return [
            { id: `${session.key} ${request.request}`, item, agent: session.agent, request, session: only },
          ];
        });
    });
}

export function AnswerNotice() {
  const waiting = useWaiting();
  const board = useLiveBoard();
  const claimed = useClaimed();
  const disabledBecause = useDisabledBecause();
  const frame = useRef<HTMLElement>(null);
  const asking = askingOf(waiting, board).filter(({ id }) => !claimed.includes(id));
  const [first] = asking;
  // In the past, and on a page that only shows the board, nothing can be answered.
  if (first === undefined || disabledBecause !== null) return null;
  const { id, item, agent, worker, session } = first;
  const isInView = (): boolean => {
    const { top, bottom } = frame.current?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
    return top >= 0 && bottom <= window.innerHeight;
  };
  const given = { place: 'notice', keys: isInView, disabledBecause } as const;
  return (
    <section
      ref={frame}
      aria-label="Waits for your permission"
      className="sticky bottom-0 z-10 flex min-w-0 flex-col gap-1 border-you-mark border-t bg-surface px-6 py-2 shadow-float max-wide:bottom-[calc(3.5rem+1px)] max-wide:mb-14 max-wide:px-4"
    >
      <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-small text-you">
        <Hand aria-hidden="true" className="size-4 shrink-0" />
        <Link
          to="/attention"
          search={{ id: item.id }}
          className="from-outside font-semibold underline underline-offset-2"
        >
          {shownText(nameOf(item).slice(0, 200))}
        </Link>
        <span className="from-outside">{shownText(agent.slice(0, 60))} asks for your permission</span>
        {asking.length > 1 && (
          <Link to="/attention" className="ml-auto text-muted underline underline-offset-2">
            {asking.length - 1} more {asking.length === 2 ? 'waits' : 'wait'}
          </Link>
        )}
      </p>
      {worker !== undefined && <WorkerAnswer key={id} worker={worker} {...given} />}
      {session !== undefined && <SessionAnswer key={id} session={session} {...given} />}
    </section>
  );
}
