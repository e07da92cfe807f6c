// The workflow states of tickets that are issues of the code host. An issue itself is only open or closed, so a state is
// one of these, by its id:
//
//   status:<project>/<field>/<option>   the status field of a project; with `:completed` or `:not_planned` the issue is
//                                       closed too
//   label:<name>                        a label of the repository that is named like a state
//   open, closed:completed, closed:not_planned   neither
import type { Config } from '../config.ts';
import type { WorkflowState } from './api-answer.ts';
import { type TicketPhase, ticketPhases } from './ticket-phases.ts';
import type { TicketState } from './topics.ts';

export type StateMap = Config['svc']['tracker']['stateMap'];

const types: Record<TicketPhase, string> = {
  backlog: 'backlog',
  todo: 'unstarted',
  research: 'started',
  planning: 'started',
  inProgress: 'started',
  inReview: 'started',
  done: 'completed',
  canceled: 'canceled',
};

type NamedState = { name: string; type: string };
type Closing = 'completed' | 'not_planned';

const reasons: ReadonlyMap<string, Closing> = new Map([
  ['completed', 'completed'],
  ['canceled', 'not_planned'],
]);

/** In the order of the phases; of phases with the same state, the first. */
function namedStates(stateMap: StateMap): NamedState[] {
  const states = new Map<string, NamedState>();
  for (const phase of ticketPhases) {
    const name = stateMap[phase];
    if (name !== null && !states.has(name.toLowerCase()))
      states.set(name.toLowerCase(), { name, type: types[phase] });
  }
  return [...states.values()];
}

export type StatusField = {
  projectId: string;
  fieldId: string;
  options: readonly { id: string; name: string }[];
};

/** All states of a repository, given its project's status field or the names of its labels. */
export function githubStates(
  stateMap: StateMap,
  found: { status: StatusField } | { labels: readonly string[] },
): WorkflowState[] {
  const states =
    'status' in found ? statusStates(stateMap, found.status) : labelStates(stateMap, found.labels);
  return states.map((state, position) => ({ ...state, position }));
}

function statusStates(stateMap: StateMap, status: StatusField): Omit<WorkflowState, 'position'>[] {
  const named = namedStates(stateMap);
  const { projectId, fieldId, options } = status;
  const states = options.map(({ id, name }) => {
    const type = named.find((state) => isSame(state.name, name))?.type ?? 'started';
    const reason = reasons.get(type);
    const closing = reason === undefined ? '' : `:${reason}`;
    return { id: `status:${projectId}/${fieldId}/${id}${closing}`, name, type };
  });
  // A project need not have a status for what ends a ticket: the issue is closed.
  const ends = named.flatMap(({ name, type }) => {
    const reason = reasons.get(type);
    const isThere = options.some((option) => isSame(option.name, name));
    return reason === undefined || isThere ? [] : [{ id: `closed:${reason}`, name, type }];
  });
  return [...states, ...ends];
}

function labelStates(stateMap: StateMap, labels: readonly string[]): Omit<WorkflowState, 'position'>[] {
  return namedStates(stateMap).map(({ name, type }) => {
    const reason = reasons.get(type);
    if (reason !== undefined) return { id: `closed:${reason}`, name, type };
    const label = labels.find((one) => isSame(one, name));
    return { id: label === undefined ? 'open' : `label:${label}`, name, type };
  });
}

/** Label names that are states; those of a closed issue are not. */
export function isStateLabel(stateMap: StateMap, label: string): boolean {
  return namedStates(stateMap).some(({ name, type }) => !reasons.has(type) && isSame(name, label));
}

export type IssueFacts = {
  state: string | undefined;
  stateReason: string | null | undefined;
  labels: readonly string[];
};

/**
 * The state that an issue shows by itself. Undefined while it is open in a project: only the project knows its status.
 * If several labels are states, the one of the latest phase counts.
 */
export function githubStateOf(
  { state, stateReason, labels }: IssueFacts,
  { stateMap, inProject }: { stateMap: StateMap; inProject: boolean },
): TicketState | undefined {
  if (state === 'closed') {
    const isCanceled = stateReason === 'not_planned' || stateReason === 'duplicate';
    return isCanceled
      ? { id: 'closed:not_planned', name: stateMap.canceled ?? 'Closed', type: 'canceled' }
      : { id: 'closed:completed', name: stateMap.done ?? 'Closed', type: 'completed' };
  }
  if (state !== 'open' || inProject) return undefined;
  const named = namedStates(stateMap).findLast(
    ({ name, type }) => !reasons.has(type) && labels.some((label) => isSame(label, name)),
  );
  if (named === undefined) return { id: 'open', name: 'Open', type: 'unstarted' };
  const label = labels.find((one) => isSame(one, named.name)) ?? named.name;
  return { id: `label:${label}`, ...named };
}

/** What has to be done at the code host to put an issue into a state. */
export type GithubMove = {
  /** Undefined: the issue has to be open. */
  close: Closing | undefined;
  label?: string;
  status?: { projectId: string; fieldId: string; optionId: string };
};

const closedId = /^closed:(completed|not_planned)$/;
const labelId = /^label:(.+)$/;
const statusId = /^status:([\w=-]+)\/([\w=-]+)\/([\w=-]+?)(?::(completed|not_planned))?$/;

/** Undefined if the id is none of ours, such as one of another tracker. */
export function githubMove(stateId: string): GithubMove | undefined {
  if (stateId === 'open') return { close: undefined };
  const [, closed] = closedId.exec(stateId) ?? [];
  if (closed !== undefined) return { close: closed as Closing };
  const [, label] = labelId.exec(stateId) ?? [];
  if (label !== undefined) return { close: undefined, label };
  const [, projectId, fieldId, optionId, close] = statusId.exec(stateId) ?? [];
  if (projectId === undefined || fieldId === undefined || optionId === undefined) return undefined;
  return { close: close as Closing | undefined, status: { projectId, fieldId, optionId } };
}

/** Like the code host, which ignores case in the names of labels. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
