// Keeps the board bounded: what has settled is let go after a while, or when there is too much of it. Done at
// fixed lines and by the lines' own times, so that every fold lets go of the same.
import { linkAll } from './board-entities.ts';
import type { Board, FoldedLine } from './board-shape.ts';
import { isOver } from './worker-attention.ts';

const LINES_BETWEEN_CLEANUPS = 10_000;
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** There are many, and what they meant for a worker stands with the worker. */
const DEPLOYMENTS_KEPT_MS = 7 * DAY_MS;

const caps = {
  pullRequests: 10_000,
  workers: 5_000,
  deployments: 5_000,
  tickets: 10_000,
  runs: 2_000,
  attention: 5_000,
  feeds: 500,
} as const;

type Kept = { lastSeq: number; lastAt?: string };

/** Lets go of what has settled, when it is time for it. */
export function keepBounded(board: Board, { seq, ts }: FoldedLine): void {
  if (seq % LINES_BETWEEN_CLEANUPS !== 0) return;
  const before = (milliseconds: number): string => new Date(Date.parse(ts) - milliseconds).toISOString();
  const limit = before(KEPT_MS);
  let gone = 0;
  gone += letGo(board.pullRequests, limit, caps.pullRequests, ({ state }) => state !== 'open');
  gone += letGo(board.workers, limit, caps.workers, isOver);
  gone += letGo(board.deployments, before(DEPLOYMENTS_KEPT_MS), caps.deployments, () => true);
  if (gone > 0) linkAll(board);
  letGo(board.tickets, limit, caps.tickets, () => true);
  letGo(board.runs, limit, caps.runs, ({ state }) => state !== 'running' && state !== 'paused');
  capOnly(board.feeds, caps.feeds, ({ lastSeq }) => lastSeq);
  capOnly(board.attention, caps.attention, ({ openedSeq }) => openedSeq);
}

/** How many went. */
function letGo<Entity extends Kept>(
  entities: Map<string, Entity>,
  limit: string,
  most: number,
  isSettled: (entity: Entity) => boolean,
): number {
  const before = entities.size;
  const settled: [key: string, lastSeq: number][] = [];
  for (const [key, entity] of entities) {
    if (!isSettled(entity)) continue;
    if ((entity.lastAt ?? limit) < limit) entities.delete(key);
    else settled.push([key, entity.lastSeq]);
  }
  if (entities.size > most) {
    settled.sort(([, one], [, other]) => one - other);
    for (const [key] of settled.slice(0, entities.size - most)) entities.delete(key);
  }
  return before - entities.size;
}

function capOnly<Entity>(
  entities: Map<string, Entity>,
  most: number,
  seqOf: (entity: Entity) => number,
): void {
  if (entities.size <= most) return;
  const oldest = [...entities].toSorted(([, one], [, other]) => seqOf(one) - seqOf(other));
  for (const [key] of oldest.slice(0, entities.size - most)) entities.delete(key);
}
