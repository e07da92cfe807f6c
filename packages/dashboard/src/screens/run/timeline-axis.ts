// The time axis of a run: from its first bar to its last, or to now while something goes on. Hours in which nothing
// changed are folded.
import { type AxisSegment, foldIdle } from '@svc/core/browser';
import type { Timeline } from './timeline-bars.ts';

export function timelineAxis({ rows, waves }: Timeline, now: number): AxisSegment[] {
  const bars = [...rows.flatMap((row) => row.bars), ...waves];
  return foldIdle(
    bars.map(({ from, to }) => ({
      start: new Date(from).toISOString(),
      end: to === null ? null : new Date(to).toISOString(),
    })),
    now,
  );
}
