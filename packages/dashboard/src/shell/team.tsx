// The team on a screen: the switch between this machine's board and the team's, the machines, and whose a card is.
import { Link, useSearch } from '@tanstack/react-router';
import type { TeamStatus } from 'svc-monitor/src/features/team/api.ts';
import { useOwnBoard, useTeam, useView } from '../live/live.tsx';
import { Ago } from '../parts/age.tsx';
import { classNames } from '../parts/class-names.ts';
import { OutsideText } from '../parts/outside.tsx';
import { ChoiceField } from '../parts/search-field.tsx';

type Member = TeamStatus['members'][number];

const views = [
  { view: 'mine', name: 'Mine' },
  { view: 'team', name: 'Team' },
] as const;

/** Nothing on a machine that is in no team. */
export function TeamSwitch() {
  const team = useTeam();
  const shown = useView();
  if (team === null) return null;
  return (
    <nav aria-label="Whose board" className="flex rounded-control border border-line bg-surface p-0.5">
      {views.map(({ view, name }) => (
        <Link
          key={view}
          to="."
          search={(before) => ({ ...before, view, machine: undefined, id: undefined })}
          aria-current={view === shown ? 'true' : undefined}
          className={classNames(
            'flex h-7 items-center rounded-control px-2.5 text-small font-medium max-wide:h-10',
            view === shown ? 'bg-sunken text-ink' : 'text-muted hover:text-ink',
          )}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

/** Only while the team's board is shown. */
export function MachineField() {
  const team = useTeam();
  if (useView() === 'mine' || team === null || team.members.length < 2) return null;
  const options = team.members.map(({ machine, person }) => ({
    value: machine,
    text: `${machine} (${person})`,
  }));
  return <ChoiceField name="machine" label="Machine" all="All machines" options={options} />;
}

const noticeClass =
  'mb-3 flex flex-wrap gap-x-6 gap-y-1 rounded-control border border-unknown-mark border-dashed px-3 py-2 text-small text-unknown';

/** The machines of which nothing is heard: what is shown of them may be outdated. */
export function NotHeard() {
  const team = useTeam();
  const { machine } = useSearch({ strict: false });
  const isTeam = useView() === 'team';
  const silent = (team?.members ?? []).filter(
    (member) => isSilent(member) && (machine === undefined || machine === member.machine),
  );
  if (!isTeam || silent.length === 0) return null;
  return (
    <ul aria-label="Machines that are not heard" className={noticeClass}>
      {silent.map((member) => (
        <li key={member.id}>
          <OutsideText>{`${member.machine} (${member.person})`}</OutsideText>: <Heard {...member} />; this may
          be outdated
        </li>
      ))}
    </ul>
  );
}

/** The machines of which not everything is shown, now or at the past time that is viewed. */
export function ShownInPart() {
  const team = useTeam();
  const { machine } = useSearch({ strict: false });
  const { leftOut } = useOwnBoard().board;
  const isTeam = useView() === 'team';
  const parts = leftOut.flatMap(({ machine: id, shown, of }) => {
    const member = team?.members.find((one) => one.id === id);
    const isChosen = machine === undefined || machine === member?.machine;
    return member !== undefined && isChosen ? [{ ...member, shown, of }] : [];
  });
  if (!isTeam || parts.length === 0) return null;
  return (
    <ul aria-label="Machines that are shown in part" className={noticeClass}>
      {parts.map(({ id, person, shown, of, ...member }) => (
        <li key={id}>
          <OutsideText>{`${member.machine} (${person})`}</OutsideText>: shown {shown} of {of}, the newest. The
          rest: svc board, on <OutsideText>{member.machine}</OutsideText>
        </li>
      ))}
    </ul>
  );
}

type Owner = Member & { isSilent: boolean };

/** Whose a row is. Without an id it is of this machine, which is not named while only its own board is shown. */
export function useOwner(id: string | undefined): Owner | null {
  const team = useTeam();
  const isTeam = useView() === 'team';
  const { at } = useSearch({ strict: false });
  const found = team?.members.find((member) => (id === undefined ? member.self : member.id === id));
  if (found === undefined || (!isTeam && id === undefined)) return null;
  // It is not known who was heard at a past time.
  return { ...found, isSilent: at === undefined && isSilent(found) };
}

function isSilent({ presence }: Member): boolean {
  return presence !== 'here';
}

/** `kim, laptop`, with the age of what is known if the machine is not heard. */
export function OwnerLine({ owner }: { owner: Owner | null }) {
  if (owner === null) return null;
  return (
    <span
      className={classNames('min-w-0 truncate text-tiny', owner.isSilent ? 'text-unknown' : 'text-muted')}
    >
      <OutsideText>{`${owner.person}, ${owner.machine}`}</OutsideText>
      {owner.isSilent && (
        <>
          , <Heard {...owner} />
        </>
      )}
    </span>
  );
}

function Heard({ heardAt, presence, doubt }: Pick<Member, 'heardAt' | 'presence' | 'doubt'>) {
  if (presence === 'incomplete') return <OutsideText>{doubt}</OutsideText>;
  if (heardAt === null) return 'not heard yet';
  return (
    <>
      last heard <Ago at={heardAt} />
    </>
  );
}
