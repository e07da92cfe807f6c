// Where a process is killed, in the order in which an effect passes the points, and how often it may pass one
// before it is: all of log, outbox and effect is hit early and late in a life, in recovery as in full work.
import type { Random } from '../packages/testkit/src/random.ts';

/** The most passages of a point that a life is sure to see. */
const passages = {
  'while-starting': 1,
  'after-log-append': 10,
  'before-accept': 5,
  'inside-accept': 5,
  'after-accept': 5,
  'before-handler': 12,
  'after-effect': 12,
  'before-finish': 12,
  'after-finish': 12,
  'after-retry': 1,
  'before-give-up': 2,
  'inside-give-up': 2,
  'after-give-up': 2,
  'after-attention': 2,
  'after-told': 2,
  /** Killed from outside, when it has said so often that it wrote a line. */
  'any-moment': 12,
} as const;

export type KillPoint = keyof typeof passages;
export type PlannedKill = { point: KillPoint; nth: number };

export const killPoints = Object.keys(passages).filter((name): name is KillPoint =>
  Object.hasOwn(passages, name),
);

/** So many kills, spread evenly over the points, in an order of chance. */
export function planKills(
  kills: number,
  random: Random,
  points: readonly KillPoint[] = killPoints,
): PlannedKill[] {
  const spread = Array.from({ length: kills }, (_, index) => points[index % points.length] ?? 'any-moment');
  return random.shuffled(spread).map((point) => ({ point, nth: 1 + random.below(passages[point]) }));
}
