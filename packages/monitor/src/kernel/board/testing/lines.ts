// Lines for tests, with only the fields that matter.

import { typedLine } from '../../../features/topics.ts';
import type { AgentRequest } from '../../../features/workers/agent-fields.ts';
import type { DeployPolicy } from '../../../features/workers/deploy-fields.ts';
import { type Board, type FoldedLine } from '../board.ts';
import type { LineOf } from '../fold-context.ts';

export type LineFields = Partial<Omit<FoldedLine, 'event'>>;

/** Seconds after the first of January 2026. */
export function moment(second: number): string {
  return new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString();
}

/** A line that happened at second `seq` and was accepted a second later. */
export function logged(seq: number, event: string, more: LineFields = {}): FoldedLine {
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

/** What an agent asks a person. */
export const request: AgentRequest = {
  request: '1',
  kind: 'permission',
  title: 'Edit',
  tool: null,
  toolKind: null,
  paths: [],
  command: null,
  options: [],
  fields: [],
};

/** The board of a project that states this policy. */
export function withPolicyOf(board: Board, repo: string, policy: DeployPolicy): Board {
  const stated = { project: '/web', deploy: { [repo]: policy }, relaxes: [], others: 'default' as const };
  board.projects.set('/web', stated);
  return board;
}

/** A method, because a reducer takes only lines of its own topics. */
type Reducer<Entity> = { reduce(known: Entity | undefined, line: LineOf): Entity | undefined };

/** An entity after these lines, typed as the fold passes them to a reducer. */
export function reduced<Entity>(
  reduce: Reducer<Entity>['reduce'],
  lines: readonly FoldedLine[],
  known?: Entity,
): Entity | undefined {
  const typed = lines.flatMap((line) => typedLine(line) ?? []);
  return typed.reduce<Entity | undefined>((before, line) => reduce(before, line), known);
}
