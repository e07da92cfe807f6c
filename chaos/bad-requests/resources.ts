// What a daemon uses during an attack and afterwards: memory and file handles, once a second, and the verdict.
import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';

export type Sample = {
  seconds: number;
  rssMb: number;
  handles: number;
  /** Their targets, and how often each. */
  kinds: Record<string, number>;
};

export type Bounds = {
  /** The most memory at any time, in MB. */
  mostMb: number;
  /** The most additional memory after the load, compared with the start, in MB. */
  keptMb: number;
  /** Growth over the last half of the load: MB and handles a minute. */
  mbPerMinute: number;
  handlesPerMinute: number;
};

export function sampleOf(pid: number, startedAt: number): Sample {
  const seconds = (performance.now() - startedAt) / 1000;
  const kinds: Record<string, number> = {};
  const handles = readdirSync(`/proc/${pid}/fd`);
  for (const kind of handles.map((handle) => kindOf(`/proc/${pid}/fd/${handle}`)))
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { seconds, rssMb: rssMegabytes(pid), handles: handles.length, kinds };
}

/** `socket`, `pipe`, or the name of a file. */
function kindOf(handle: string): string {
  try {
    return basename(readlinkSync(handle)).replace(/:\[\d+\]$/, '');
  } catch {
    return 'closed meanwhile';
  }
}

/** SQLite keeps some closed handles of its file, and reuses them. */
const KEPT_BY_SQLITE = { kind: 'svc.db', count: 2 };

/** Kinds with more handles than before. */
function more(before: Sample, after: Sample): string {
  return Object.entries(after.kinds)
    .map(([kind, count]) => [kind, count - (before.kinds[kind] ?? 0)] as const)
    .filter(([kind, count]) => count > (kind === KEPT_BY_SQLITE.kind ? KEPT_BY_SQLITE.count : 0))
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** `start` and `after` are measured without load; `under` are the samples under load, in order. */
export function judgeResources(
  given: { start: Sample; under: readonly Sample[]; after: Sample },
  bounds: Bounds,
) {
  const { start, under, after } = given;
  const lastHalf = under.slice(Math.floor(under.length / 2));
  const found = {
    mostMb: Math.max(...under.map(({ rssMb }) => rssMb)),
    mostHandles: Math.max(...under.map(({ handles }) => handles)),
    mbPerMinute: slope(lastHalf.map(({ seconds, rssMb }) => [seconds / 60, rssMb])),
    handlesPerMinute: slope(lastHalf.map(({ seconds, handles }) => [seconds / 60, handles])),
  };
  const checks: [boolean, string][] = [
    [found.mostMb <= bounds.mostMb, `memory reached ${found.mostMb} MB, more than ${bounds.mostMb}`],
    [
      found.mbPerMinute <= bounds.mbPerMinute,
      `memory grows by ${found.mbPerMinute.toFixed(1)} MB a minute, more than ${bounds.mbPerMinute}`,
    ],
    [
      found.handlesPerMinute <= bounds.handlesPerMinute,
      `handles grow by ${found.handlesPerMinute.toFixed(1)} a minute, more than ${bounds.handlesPerMinute}`,
    ],
    [
      after.rssMb <= start.rssMb + bounds.keptMb,
      `memory is ${after.rssMb} MB after the load, more than ${start.rssMb} + ${bounds.keptMb}`,
    ],
    [more(start, after) === '', `handles that stay open after the load: ${more(start, after)}`],
  ];
  return { ...found, problems: checks.flatMap(([isKept, words]) => (isKept ? [] : [words])) };
}

/** The slope of the best-fitting line. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (pick: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x0, y0] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0) / spread;
}
