// What needs a person, most urgent first: by severity, then the longest open. Snoozed items are listed separately.

import type { Board } from '../../kernel/board/board.ts';
import type { AttentionView } from './api.ts';
import type { AttentionItem } from './attention-item.ts';

const severities = ['high', 'medium', 'low'];

type Received = { kind: string; machine: string; value: unknown };
type ReceivedItem<Row> = Extract<Row, { kind: 'attention'; value: unknown }>;

/** The records of items of other machines that were handed over to this person. */
export function handedTo<Row extends Received>(
  board: { team: ReadonlyMap<string, Row>; members: ReadonlyMap<string, unknown> },
  person: string,
): (ReceivedItem<Row> & { value: AttentionItem })[] {
  const isItem = (record: Row): record is ReceivedItem<Row> & { value: AttentionItem } =>
    record.kind === 'attention' && record.value !== null;
  return [...board.team.values()]
    .filter(isItem)
    .filter(({ machine, value }) => value.handedOver?.to === person && board.members.has(machine));
}

/** `others`: items of other machines that are listed too. */
export function attentionView(
  board: Pick<Board, 'attention'>,
  now: number,
  others: readonly (AttentionItem & { machine: string; person: string })[] = [],
): AttentionView {
  const entries = [...board.attention.values(), ...others]
    .map((item) => ({ ...item, ageMs: Math.max(0, now - Date.parse(item.openedAt)) }))
    .toSorted((a, b) => rank(a) - rank(b) || b.ageMs - a.ageMs || a.openedSeq - b.openedSeq);
  const isSnoozed = ({ snoozedUntil }: AttentionItem): boolean =>
    snoozedUntil !== null && Date.parse(snoozedUntil) > now;
  return {
    open: entries.filter((item) => !isSnoozed(item)),
    snoozed: entries.filter(isSnoozed),
  };
}

function rank({ severity }: AttentionItem): number {
  const index = severities.indexOf(severity);
  return index < 0 ? severities.length : index;
}
