// Agents that people started themselves, by folder and branch.
import type { LiveBoard } from '../../live/board-store.ts';
import { useDisabledBecause } from '../../live/live.tsx';
import { For } from '../../parts/age.tsx';
import { agentLabel } from '../../parts/meaning.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { OwnerLine, useOwner } from '../../shell/team.tsx';
import { SessionAnswer } from '../answer/answer-box.tsx';

type SessionOnBoard = LiveBoard['sessions'] extends ReadonlyMap<string, infer Row> ? Row : never;

export function Sessions({ sessions }: { sessions: LiveBoard['sessions'] }) {
  const disabledBecause = useDisabledBecause();
  const open = [...sessions.values()]
    .filter(({ state }) => state !== 'ended')
    .toSorted((one, other) => one.folder.localeCompare(other.folder) || one.key.localeCompare(other.key));
  if (open.length === 0) return null;
  return (
    <Panel title="Sessions that people started" className="mt-4" flush>
      <ul className="divide-y divide-line">
        {open.map((session) => (
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

function SessionRow(session: SessionOnBoard) {
  const { agent, folder, branch, known, since, tool, reason, state } = session;
  const { meaning: reported, words } = agentLabel({ state });
  const owner = useOwner(session.machine);
  const meaning = owner?.isSilent === true ? 'unknown' : reported;
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2 text-small">
      <OutsideText className="min-w-0 break-all font-semibold text-ink">{folder}</OutsideText>
      <OutsideText className="text-muted">{branch ?? 'no branch'}</OutsideText>
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
