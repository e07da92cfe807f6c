// The cache of a team's workflow states: display name to id.
import type { Config } from '../config/schema/config.ts';
import type { WorkflowState } from './api-shapes.ts';

type StateMap = Config['svc']['tracker']['stateMap'];

/** In the order of the workflow. Of two states with one name the first in the workflow counts. */
export function stateIdsOf(states: readonly WorkflowState[]): Record<string, string> {
  const ids = new Map<string, string>();
  for (const { name, id } of states.toSorted((one, other) => one.position - other.position)) {
    if (!ids.has(name)) ids.set(name, id);
  }
  return Object.fromEntries(ids);
}

export type UnknownState = { phase: string; name: string };

/** Phases whose state the team does not have: their tickets could not be moved. */
export function unknownStates(stateMap: StateMap, names: readonly string[]): UnknownState[] {
  return Object.entries(stateMap).flatMap(([phase, name]) =>
    name === null || names.includes(name) ? [] : [{ phase, name }],
  );
}
