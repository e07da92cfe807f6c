// How the board keeps the entities of one map: under which key, linked with what, and for how long. What is kept is bounded:
// settled entities are dropped after a while, or when there are too many. This happens at fixed lines and by the times of
// the lines, so every fold drops the same entities.
import type { Board, BoardLinks, Entities } from './board.ts';

type Slice<Name extends keyof Entities> = {
  keyOf: (entity: Entities[Name]) => string;
  /** Adds the links of an entity that had none. */
  link?: (links: BoardLinks, entity: Entities[Name]) => void;
  /** Drops what nobody needs any more; absent where the number is bounded anyway. */
  clean?: (board: Board, now: string) => void;
};

export type Slices = { readonly [Name in keyof Entities]: Slice<Name> };

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

type Kept = { lastSeq: number; lastAt?: string };

/** Settled ones go after some days, and the oldest of them when there are too many of all. */
export function dropSettled<Entity extends Kept>(
  entities: Map<string, Entity>,
  now: string,
  most: number,
  isSettled: (entity: Entity) => boolean,
  days = KEPT_DAYS,
): void {
  const limit = new Date(Date.parse(now) - days * DAY_MS).toISOString();
  const settled: [key: string, lastSeq: number][] = [];
  for (const [key, entity] of entities) {
    if (!isSettled(entity)) continue;
    if ((entity.lastAt ?? limit) < limit) entities.delete(key);
    else settled.push([key, entity.lastSeq]);
  }
  if (entities.size <= most) return;
  settled.sort(([, one], [, other]) => one - other);
  for (const [key] of settled.slice(0, entities.size - most)) entities.delete(key);
}

/** The oldest go when there are too many. */
export function capOnly<Entity>(
  entities: Map<string, Entity>,
  most: number,
  seqOf: (entity: Entity) => number,
): void {
  if (entities.size <= most) return;
  const oldest = [...entities].toSorted(([, one], [, other]) => seqOf(one) - seqOf(other));
  for (const [key] of oldest.slice(0, entities.size - most)) entities.delete(key);
}
