// The team's board: every machine with what it has published, and this machine with its own board.

import type { Board } from '../../kernel/board/board.ts';
import type { BoardView } from '../board/api.ts';
import { boardView } from '../board/board-view.ts';
import { shownTeam } from '../board/shown-team.ts';
import type { TeamWorkerView } from '../board/team-entity.ts';
import { titlesIn } from '../board/worker-titles.ts';
import type { TeamBoard, TeamCommandView } from './api.ts';
import { SILENT_MS } from './roster.ts';

type Shown = TeamBoard['machines'][number];
type Presence = Pick<Shown, 'heardAt' | 'presence' | 'doubt'>;

/** `doubt`: why what is shown of it may be incomplete. Such a machine is never shown as one that has nothing to do. */
export function presenceOf(
  heardAt: number | undefined,
  now: number,
  { silentMs = SILENT_MS, doubt = null }: { silentMs?: number; doubt?: string | null } = {},
): Presence {
  if (heardAt === undefined) return { heardAt: null, presence: 'unknown', doubt };
  const presence = now - heardAt > silentMs ? 'silent' : doubt === null ? 'here' : 'incomplete';
  return { heardAt: new Date(heardAt).toISOString(), presence, doubt };
}

/** `self` is the id of this machine. */
export function teamView(
  board: Board,
  { self, presence }: { self: string; presence: (machine: string) => Presence },
): TeamBoard {
  const machines = new Map<string, Shown>();
  const mine = boardView(board);
  // A title of the own tracker comes before what another machine says.
  const titleOf = titlesIn(mine);
  const titled = (worker: TeamWorkerView, isOwn: boolean): TeamWorkerView => {
    return { ...worker, title: titleOf(worker, isOwn) ?? worker.title ?? null };
  };
  for (const { id, machine, person, role } of board.members.values()) {
    const own: Pick<BoardView, 'workers' | 'runs' | 'sessions' | 'attention'> =
      id === self ? mine : { workers: [], runs: [], sessions: [], attention: [] };
    const { workers, runs, sessions, attention } = own;
    const member = { id, machine, person, role, self: id === self, ...presence(id) };
    machines.set(id, {
      ...member,
      workers: workers.map((worker) => titled(worker, true)),
      runs,
      sessions,
      attention,
      leftOut: null,
    });
  }
  const { records, leftOut } = shownTeam(board);
  for (const { machine, shown, of } of leftOut) {
    const row = machines.get(machine);
    if (row !== undefined && !row.self) row.leftOut = { shown, of };
  }
  for (const record of records.values()) {
    const shown = machines.get(record.machine);
    if (shown === undefined || shown.self || record.value === null) continue;
    if (record.kind === 'worker') shown.workers.push(titled(record.value, false));
    else if (record.kind === 'run') shown.runs.push(record.value);
    else if (record.kind === 'session') shown.sessions.push(record.value);
    else shown.attention.push({ key: record.key, ...record.value });
  }
  const sorted = [...machines.values()].map(inOrder);
  sorted.sort(
    (one, other) => Number(other.self) - Number(one.self) || one.machine.localeCompare(other.machine),
  );
  return { seq: board.seq, at: board.at, machines: sorted };
}

/** Not in the order of arrival, which differs between machines. */
function inOrder(shown: Shown): Shown {
  return {
    ...shown,
    workers: shown.workers.toSorted(byKey),
    runs: shown.runs.toSorted(byKey),
    sessions: shown.sessions.toSorted(byKey),
    attention: shown.attention.toSorted(byKey),
  };
}

function byKey(one: { key: string }, other: { key: string }): number {
  return one.key < other.key ? -1 : 1;
}

/** Newest first. */
export function commandViews(board: Board): TeamCommandView[] {
  return [...board.commands.values()]
    .toSorted((one, other) => other.lastSeq - one.lastSeq)
    .map(({ key: _key, closed: _closed, lastSeq: _seq, lastAt: _at, ...shown }) => {
      const other = board.members.get(shown.direction === 'sent' ? shown.to : shown.from);
      return { ...shown, machine: other?.machine ?? 'unknown', person: other?.person ?? 'unknown' };
    });
}
