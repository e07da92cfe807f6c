// Agents that people started themselves, by folder and branch.
import { Link } from '@tanstack/react-router';
import { agentLabel } from 'svc-monitor/src/features/agents/agent-label.ts';
import { pullRequestOfSession, shownSessions } from 'svc-monitor/src/features/sessions/shown-sessions.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useBoard, useBoardTime, useDisabledBecause } from '../../live/live.tsx';
import { For } from '../../parts/age.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockFromNow } from '../../parts/format.ts';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { OwnerLine, useOwner } from '../../shell/team.tsx';
import { SessionAnswer } from '../answer/answer-box.tsx';

type SessionOnBoard = LiveBoard['sessions'] extends ReadonlyMap<string, infer Row> ? Row : never;

export function Sessions({ sessions }: { sessions: LiveBoard['sessions'] }) {
  const disabledBecause = useDisabledBecause();
  const shown = shownSessions(sessions.values(), useBoardTime());
  if (shown.length === 0) return null;
  return (
    <Panel title="Sessions that people started" className="mt-4" flush>
      <ul className="divide-y divide-line">
        {shown.map((session) => (
          <li key={session.key}>
            <SessionRow {...session} />
            {session.open.length > 0 && session.machine === undefined && (
              <div className="border-line border-t p-4">
                <SessionAnswer session={session} place="page" keys={null} disabledBecause={disabledBecause} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

type Known = Pick<LiveBoard, 'workers' | 'pullRequests' | 'tickets'>;

/** What a session works on: the ticket of a worker or a pull request of its branch, else one that the branch names. */
export function ticketOfSession(
  { branch }: Pick<SessionOnBoard, 'branch'>,
  { workers, pullRequests, tickets }: Known,
): { ticket: string; title: string | null } | null {
  if (branch === null) return null;
  const names = branch.toUpperCase();
  const isNamed = (ticket: string): boolean =>
    new RegExp(`(?:^|[^A-Z0-9])${ticket.toUpperCase().replaceAll(/[^A-Z0-9-]/g, '.')}(?:$|[^0-9])`).test(
      names,
    );
  const ticket =
    [...workers.values()].find((worker) => worker.branch === branch)?.ticket ??
    [...pullRequests.values()].find((one) => one.branch === branch && one.ticket !== null)?.ticket ??
    [...tickets.values()].find((one) => isNamed(one.ticket))?.ticket ??
    null;
  if (ticket === null) return null;
  const tracked = [...tickets.values()].find((one) => one.ticket.toUpperCase() === ticket.toUpperCase());
  return { ticket, title: tracked?.title ?? null };
}

function SessionRow(session: SessionOnBoard) {
  const { agent, folder, branch, known, since, tool, reason, state } = session;
  const { meaning: reported, words } = agentLabel({ state }, clockFromNow);
  const owner = useOwner(session.machine);
  const { board } = useBoard();
  // The board of another machine has tickets of the same name.
  const subject = session.machine === undefined ? ticketOfSession(session, board) : null;
  const pullRequest =
    session.machine === undefined ? pullRequestOfSession(session, board.pullRequests.values()) : undefined;
  const meaning = owner?.isSilent === true ? 'unknown' : reported;
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2 text-small">
      {subject !== null && (
        <Link
          to="/tickets/$ticket"
          params={{ ticket: subject.ticket }}
          className="min-w-0 font-semibold text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
        >
          <OutsideText>
            {subject.title === null ? subject.ticket : `${subject.ticket}: ${subject.title}`}
          </OutsideText>
        </Link>
      )}
      <OutsideText
        className={classNames(
          'min-w-0 break-all',
          subject === null ? 'font-semibold text-ink' : 'text-muted',
        )}
      >
        {folder}
      </OutsideText>
      <OutsideText className="text-muted">{branch ?? 'no branch'}</OutsideText>
      {pullRequest !== undefined && (
        <OutsideLink href={pullRequest.url} className="text-ink">
          {pullRequest.name}
        </OutsideLink>
      )}
      <OwnerLine owner={owner} />
      <span className="text-text">{agent}</span>
      {meaning === null ? <span className="text-text">{words}</span> : <Pill meaning={meaning}>{words}</Pill>}
      {tool !== null && <OutsideText className="text-text">{tool}</OutsideText>}
      <span className="ml-auto text-tiny text-muted">
        <For at={since} />, {known === 'unknown' ? reason : `known by ${known}`}
      </span>
    </div>
  );
}
