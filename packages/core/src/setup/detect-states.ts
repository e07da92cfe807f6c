// Which of a team's workflow states belongs to which phase. The usual names count first; a team that calls its
// states otherwise is read by their types and places. A phase that nothing fits keeps what it has.
import type { Config } from '../config/schema/config.ts';
import type { WorkflowState } from '../tracker/api-shapes.ts';

type StateMap = Config['svc']['tracker']['stateMap'];
type Phase = keyof StateMap;

/** By the tracker's types of states. A team may have no state of review: then its work stays in progress. */
const kinds: Readonly<Record<Phase, { types: readonly string[]; words?: RegExp; from: 'first' | 'last' }>> = {
  backlog: { types: ['backlog', 'triage', 'unstarted'], from: 'first' },
  todo: { types: ['unstarted', 'backlog'], from: 'first' },
  research: { types: ['started'], from: 'first' },
  planning: { types: ['started'], from: 'first' },
  inProgress: { types: ['started'], from: 'first' },
  inReview: { types: ['started'], words: /review|\bqa\b|approv/i, from: 'last' },
  done: { types: ['completed'], from: 'first' },
  canceled: { types: ['canceled'], from: 'first' },
};

/** The phases whose state the team does not have, each with the one that it has instead. */
export function fittingStates(stateMap: StateMap, states: readonly WorkflowState[]): Partial<StateMap> {
  const sorted = states.toSorted((one, other) => one.position - other.position);
  const names = new Set(sorted.map(({ name }) => name));
  const changes = (Object.keys(kinds) as Phase[]).flatMap((phase) => {
    const current = stateMap[phase];
    // Null is a choice: no transition.
    if (current === null || names.has(current)) return [];
    const fitting = fittingState(phase, current, sorted);
    return fitting === undefined ? [] : [[phase, fitting] as const];
  });
  return Object.fromEntries(changes);
}

function fittingState(phase: Phase, current: string, states: readonly WorkflowState[]): string | undefined {
  const sameWord = states.find(({ name }) => name.toLowerCase() === current.toLowerCase());
  if (sameWord !== undefined) return sameWord.name;
  const { types, words, from } = kinds[phase];
  for (const type of types) {
    const ofType = states.filter((state) => state.type === type);
    const named = words === undefined ? undefined : ofType.find(({ name }) => words.test(name));
    const found = named ?? (from === 'first' ? ofType[0] : ofType.at(-1));
    if (found !== undefined) return found.name;
  }
  return undefined;
}
