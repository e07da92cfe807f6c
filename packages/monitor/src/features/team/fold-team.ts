// What other machines of the team have published, verified when it was received. A record has a version: an older one
// never replaces a newer one, and what was removed is remembered with its version.
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import type { AttentionItem } from '../attention/attention-item.ts';
import type { CommandEntry } from './records.ts';
import { isSharedKind, readShared } from './shared.ts';

/** Records of machines that are no longer members go with them. */
function foldRoster({ board, line }: FoldContext<'team.roster.changed'>): void {
  const { machines } = line.detail;
  if (line.source !== 'monitor' || machines === undefined) return;
  const ids = new Set(machines.map(({ id }) => id));
  for (const id of board.members.keys()) if (!ids.has(id)) board.members.delete(id);
  for (const one of machines) board.members.set(one.id, { ...one, lastSeq: line.seq, lastAt: line.ts });
  for (const [key, { machine }] of board.team) if (!ids.has(machine)) board.team.delete(key);
  // What this machine has asked of one that is gone ends with a line of its own.
  for (const [key, { from }] of board.commands) if (!ids.has(from)) board.commands.delete(key);
}

function foldRecord({ board, line }: FoldContext<'team.record.changed' | 'team.record.removed'>): void {
  const { machine = '', kind = '', key = '', version = 0, value } = line.detail;
  if (line.source !== 'monitor' || !isSharedKind(kind)) return;
  const id = `${machine}/${kind}/${key}`;
  const known = board.team.get(id)?.version ?? 0;
  const isRemoval = line.event === 'team.record.removed';
  if (isRemoval ? version < known : version <= known) return;
  const read = isRemoval ? { kind, value: null } : readShared(kind, value);
  const member = board.members.get(machine);
  if (read === undefined || member === undefined) return;
  const record = {
    id,
    machine,
    key,
    version,
    ...withSender(read, member),
    lastSeq: line.seq,
    lastAt: line.ts,
  };
  board.team.set(id, record);
}

/** Who did something with an item is what its machine says. Only the machine itself is known, so it is named. */
function withSender<Read extends { kind: string; value: unknown }>(
  read: Read,
  { person, machine }: { person: string; machine: string },
): Read {
  if (read.kind !== 'attention' || read.value === null) return read;
  const item = read.value as AttentionItem;
  const by = `${person} (${machine})`;
  const { acknowledged, handedOver } = item;
  return {
    ...read,
    value: {
      ...item,
      acknowledged: acknowledged && { ...acknowledged, by },
      handedOver: handedOver && { ...handedOver, by },
    },
  };
}

// Commands. One that is known changes nothing when it comes again.

function foldCommand(context: FoldContext<'team.command.sent' | 'team.command.received'>): void {
  const { board, line } = context;
  const { command: id, from, to, request, expiresAt } = line.detail;
  if (line.source !== 'monitor' || id === undefined || from === undefined || to === undefined) return;
  if (request === undefined || expiresAt === undefined || !board.members.has(from)) return;
  const key = `${from}/${id}`;
  if (board.commands.has(key)) return;
  const direction = line.event === 'team.command.sent' ? 'sent' : 'received';
  const last = { lastSeq: line.seq, lastAt: line.ts };
  const entry = { key, id, direction, from, to, command: request, at: line.ts, expiresAt, ...last } as const;
  board.commands.set(key, { ...entry, state: 'open', why: null, remedy: null, endedAt: null, closed: false });
  if (direction === 'received') ask(context, key, { kind: 'team-command', command: key, from });
}

/** The first end counts; but one that was not answered in time may still be answered. */
function foldCommandEnd({ board, line }: FoldContext<'team.command.ended' | 'team.command.closed'>): void {
  const { command = '', from = '' } = line.detail;
  const entry = board.commands.get(`${from}/${command}`);
  if (line.source !== 'monitor' || entry === undefined) return;
  const last = { lastSeq: line.seq, lastAt: line.ts };
  const put = (change: Partial<CommandEntry>) =>
    board.commands.set(entry.key, { ...entry, ...change, ...last });
  if (line.event === 'team.command.closed') return void put({ closed: true });
  const { state, why = null, remedy = null } = line.detail;
  const isUnanswered = entry.direction === 'sent' && entry.state === 'expired';
  if (state === undefined || (entry.state !== 'open' && !isUnanswered)) return;
  put({ state, why, remedy, endedAt: line.ts });
}

export const teamFolds: readonly Fold[] = [
  on(['team.roster.changed'], foldRoster),
  on(['team.record.changed', 'team.record.removed'], foldRecord),
  on(['team.command.sent', 'team.command.received'], foldCommand),
  on(['team.command.ended', 'team.command.closed'], foldCommandEnd),
];
