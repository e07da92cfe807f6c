// Lines for tests, with only what matters to them.
import { typedLine } from '../../log/typed-line.ts';
import type { FoldedLine } from '../board.ts';
import type { LineOf } from '../fold-context.ts';

export type Told = Partial<Omit<FoldedLine, 'event'>>;

/** Seconds after the first of January 2026. */
export function moment(second: number): string {
  return new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString();
}

/** A line that happened at second `seq` and was accepted a second later. */
export function told(seq: number, event: string, more: Told = {}): FoldedLine {
  const isUpstream = event.startsWith('codehost.') || event.startsWith('tracker.');
  return {
    seq,
    ts: moment(seq + 1),
    event,
    source: isUpstream ? 'codehost.webhook' : 'orchestrator',
    via: isUpstream ? 'live' : 'local',
    ...(isUpstream && { occurredAt: moment(seq) }),
    scope: {},
    detail: {},
    ...more,
  };
}

/** A method, because a reducer takes the lines of its own topics only: a test hands it no others. */
type Reducer<Entity> = { reduce(known: Entity | undefined, line: LineOf): Entity | undefined };

/** An entity after lines, each with the detail of its topic, as the fold hands them to a reducer. */
export function reduced<Entity>(
  reduce: Reducer<Entity>['reduce'],
  lines: readonly FoldedLine[],
  known?: Entity,
): Entity | undefined {
  const typed = lines.flatMap((line) => typedLine(line) ?? []);
  return typed.reduce<Entity | undefined>((before, line) => reduce(before, line), known);
}
