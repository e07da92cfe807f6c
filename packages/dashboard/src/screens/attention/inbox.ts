// What waits for a person, and the attention items that somebody has or that are snoozed, the most urgent first.

import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { hasStandingCause } from 'svc-monitor/src/features/attention/standing-cause.ts';
import {
  isWaiting,
  itemsOfWorker,
  type NeedsYou,
  needsPerson,
  needsYouCount,
  type WaitingThing,
  whatNeedsYou,
} from 'svc-monitor/src/features/board/board-columns.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import type { ItemOfPerson } from '../../live/team-board.ts';

export const tabs = ['waiting', 'taken', 'snoozed'] as const;
export type Tab = (typeof tabs)[number];

const severities = ['high', 'medium', 'low'];

/** A snoozed item stays in `snoozed` even if it was acknowledged. */
export function tabOf(item: AttentionItem, now: number): Tab {
  if (isSnoozed(item, now)) return 'snoozed';
  return isWaiting(item, now) ? 'waiting' : 'taken';
}

export function inbox<T extends AttentionItem>(items: Iterable<T>, now: number): Record<Tab, T[]> {
  const found: Record<Tab, T[]> = { waiting: [], taken: [], snoozed: [] };
  for (const item of [...items].toSorted(byUrgency)) found[tabOf(item, now)].push(item);
  return found;
}

/** By severity, then the longest open. */
function byUrgency(one: AttentionItem, other: AttentionItem): number {
  return (
    rank(one) - rank(other) ||
    Date.parse(one.openedAt) - Date.parse(other.openedAt) ||
    one.openedSeq - other.openedSeq ||
    (one.id < other.id ? -1 : 1)
  );
}

function rank({ severity }: AttentionItem): number {
  const index = severities.indexOf(severity);
  return index < 0 ? severities.length : index;
}

type Row<Kind extends keyof LiveBoard> =
  LiveBoard[Kind] extends ReadonlyMap<string, infer Entity> ? Entity : never;

/** Whether the worker needs a person: the column of the board, by the same rule. */
export function needsYou(
  worker: Row<'workers'>,
  { attention }: Pick<LiveBoard, 'attention'>,
  now: number,
): boolean {
  return needsPerson(worker, itemsOfWorker(worker, attention.values(), now));
}

/** Everything that needs a person, by the same rule as the column; what has no item that waits comes last. */
export function waitingFor(board: LiveBoard, items: Iterable<ItemOfPerson>, now: number): WaitingThing[] {
  return whatNeedsYou(inputOf(board, items, now))
    .map((thing) => ({ ...thing, items: thing.items.toSorted(byUrgency) }))
    .toSorted(({ items: [one] }, { items: [other] }) => {
      if (one === undefined || other === undefined)
        return Number(one === undefined) - Number(other === undefined);
      return byUrgency(one, other);
    });
}

/** The number of it. */
export function needsYouOf(board: LiveBoard, items: Iterable<ItemOfPerson>, now: number): NeedsYou {
  return needsYouCount(inputOf(board, items, now));
}

function inputOf(board: LiveBoard, attention: Iterable<ItemOfPerson>, now: number) {
  const { workers, pullRequests, tickets, sessions } = board;
  return {
    workers: workers.values(),
    pullRequests: pullRequests.values(),
    tickets: tickets.values(),
    sessions: sessions.values(),
    attention: [...attention],
    now,
  };
}

/** Whether its cause still exists, so that it can be snoozed but not resolved. */
export function isStanding(
  item: AttentionItem,
  { workers, sessions, feeds }: Pick<LiveBoard, 'workers' | 'sessions' | 'feeds'>,
): boolean {
  return hasStandingCause(item, {
    needs: workers.get(`${item.orchestrator}/${item.ticket}`)?.needs ?? [],
    session: sessions.get(item.session ?? '')?.state,
    grade: feeds.get(item.feed ?? '')?.grade,
  });
}

/** The next selection for `j` and `k`; the list does not wrap around. */
export function moved(ids: readonly string[], from: string | undefined, by: 1 | -1): string | undefined {
  const index = from === undefined ? -1 : ids.indexOf(from);
  if (index < 0) return ids[0];
  return ids[Math.min(ids.length - 1, Math.max(0, index + by))];
}

/** The selection after an item was removed: the next one, else the previous one. */
export function neighbour(ids: readonly string[], id: string): string | undefined {
  const index = ids.indexOf(id);
  return ids[index + 1] ?? ids[index - 1];
}

function isSnoozed({ snoozedUntil }: Pick<AttentionItem, 'snoozedUntil'>, now: number): boolean {
  return snoozedUntil !== null && Date.parse(snoozedUntil) > now;
}
