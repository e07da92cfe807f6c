// What other machines of the team have published, verified when it was received. A record has a version: an older one
// never replaces a newer one, and what was removed is remembered with its version.
import { isSharedKind, readShared } from '../team/shared.ts';
import { type Fold, type FoldContext, on } from './fold-context.ts';

/** Records of machines that are no longer members go with them. */
function foldRoster({ board, line }: FoldContext<'team.roster.changed'>): void {
  const { machines } = line.detail;
  if (line.source !== 'monitor' || machines === undefined) return;
  const ids = new Set(machines.map(({ id }) => id));
  for (const id of board.members.keys()) if (!ids.has(id)) board.members.delete(id);
  for (const one of machines) board.members.set(one.id, { ...one, lastSeq: line.seq, lastAt: line.ts });
  for (const [key, { machine }] of board.team) if (!ids.has(machine)) board.team.delete(key);
}

function foldRecord({ board, line }: FoldContext<'team.record.changed' | 'team.record.removed'>): void {
  const { machine = '', kind = '', key = '', version = 0, value } = line.detail;
  if (line.source !== 'monitor' || !board.members.has(machine) || !isSharedKind(kind)) return;
  const id = `${machine}/${kind}/${key}`;
  const known = board.team.get(id)?.version ?? 0;
  const isRemoval = line.event === 'team.record.removed';
  if (isRemoval ? version < known : version <= known) return;
  const read = isRemoval ? { kind, value: null } : readShared(kind, value);
  if (read === undefined) return;
  const record = { id, machine, key, version, ...read, lastSeq: line.seq, lastAt: line.ts };
  board.team.set(id, record);
}

export const teamFolds: readonly Fold[] = [
  on(['team.roster.changed'], foldRoster),
  on(['team.record.changed', 'team.record.removed'], foldRecord),
];
