// The team's board: this machine's, with what the other machines have published. A row of another machine has the key of
// its record and the id of its machine.
import { handedTo } from 'svc-monitor/src/features/attention/attention-view.ts';
import type { LiveBoard } from './board-store.ts';

type RecordRow = LiveBoard['team'] extends ReadonlyMap<string, infer Entity> ? Entity : never;
type Row = { key: string; machine: string };
type Item = LiveBoard['attention'] extends ReadonlyMap<string, infer Entity> ? Entity : never;
/** `isForMe`: on another machine, and handed over to this person. */
export type ItemOfPerson = Item & { machine?: string; isForMe?: boolean };

/** A row stays the same object until its record changes, so an unchanged card is not rendered again. */
const rows = new WeakMap<RecordRow, Row>();
const boards = new WeakMap<LiveBoard, Map<string, LiveBoard>>();

const kinds = { worker: 'workers', run: 'runs', session: 'sessions', attention: 'attention' } as const;

/** `machine` is the id of the only machine to show, `self` that of this one; empty: all machines, not known. */
export function teamBoard(board: LiveBoard, machine: string, self: string): LiveBoard {
  const name = `${machine} ${self}`;
  const known = boards.get(board)?.get(name);
  if (known !== undefined) return known;
  const own = machine === '' || machine === self;
  const { workers, runs, sessions, attention } = board;
  const maps = {
    workers: new Map<string, unknown>(own ? workers : []),
    runs: new Map<string, unknown>(own ? runs : []),
    sessions: new Map<string, unknown>(own ? sessions : []),
    attention: new Map<string, unknown>(own ? attention : []),
  };
  for (const [key, record] of board.team)
    if (record.value !== null && (machine === '' || record.machine === machine))
      maps[kinds[record.kind]].set(key, rowOf(record));
  const made = { ...board, ...maps } as LiveBoard;
  boards.set(board, (boards.get(board) ?? new Map<string, LiveBoard>()).set(name, made));
  return made;
}

/** This machine's items, and those of others that were handed over to this person. */
export function itemsOf(board: LiveBoard, person: string): ReadonlyMap<string, ItemOfPerson> {
  const handed = handedTo(board, person).map(
    (record) => [record.key, { ...(rowOf(record) as Row & Item), isForMe: true }] as const,
  );
  return handed.length === 0 ? board.attention : new Map([...board.attention, ...handed]);
}

function rowOf(record: RecordRow): Row {
  const { key, machine, value } = record;
  const row = rows.get(record) ?? {
    ...value,
    key,
    machine,
    // An item is found by its id, which another machine may have too.
    ...(record.kind === 'attention' && { id: key }),
  };
  rows.set(record, row);
  return row;
}
