// The tracker state of a workflow phase, by the project's stateMap. A phase may also be given by its skill.
import { nearest } from '@svc/lib/nearest';
import type { Config } from '../config.ts';
import type { WorkflowState } from './api-answer.ts';
import type { StateMap } from './github-states.ts';
import { type TicketPhase, ticketPhases } from './ticket-phases.ts';
import { sharedPrefixes, ticketPrefixOf, trackerOf } from './tracker-of.ts';

/** The phase that a running skill puts its ticket in. Only a person cancels one. */
export const phaseOfSkill: Readonly<Record<string, TicketPhase>> = {
  'research-codebase': 'research',
  'create-plan': 'planning',
  'implement-plan': 'inProgress',
  'create-pr': 'inReview',
  'describe-pr': 'inReview',
  'merge-pr': 'done',
};

export type NamedPhase =
  | { ok: true; phase: TicketPhase; skill: string | undefined }
  | { ok: false; problem: string; suggestion: string | undefined };

const LONGEST_NAME = 60;

/** A phase, or the skill that starts one. */
export function phaseNamed(text: string): NamedPhase {
  const phase = ticketPhases.find((name) => name === text);
  if (phase !== undefined) return { ok: true, phase, skill: undefined };
  const bySkill = Object.hasOwn(phaseOfSkill, text) ? phaseOfSkill[text] : undefined;
  if (bySkill !== undefined) return { ok: true, phase: bySkill, skill: text };
  const skills = Object.keys(phaseOfSkill);
  const suggestion = text.length > LONGEST_NAME ? undefined : nearest(text, [...ticketPhases, ...skills]);
  const shown = JSON.stringify(text.slice(0, LONGEST_NAME));
  const hint =
    suggestion === undefined
      ? `phases are ${ticketPhases.join(', ')}; skills are ${skills.join(', ')}`
      : `did you mean ${suggestion}?`;
  return { ok: false, problem: `unknown phase or skill ${shown}: ${hint}`, suggestion };
}

/** `id` only if it is cached: without it the state has to be found by its name. */
export type TargetState = { skip: true; why: string } | { skip: false; name: string; id: string | undefined };

export function targetState({ svc: { tracker } }: Config, phase: TicketPhase): TargetState {
  const name = tracker.stateMap[phase];
  if (name === null)
    return { skip: true, why: `svc.tracker.stateMap.${phase} is null: this phase does not move the ticket` };
  const cached = Object.entries(tracker.stateIds ?? {}).map(([known, id]) => ({ name: known, id }));
  return { skip: false, name, id: stateNamed(cached, name)?.id };
}

/** The state with exactly that name, else one that differs only in case. */
export function stateNamed<State extends { name: string }>(
  states: readonly State[],
  name: string,
): State | undefined {
  return (
    states.find((state) => state.name === name) ??
    states.find((state) => state.name.toLowerCase() === name.toLowerCase())
  );
}

/**
 * The project whose tickets have this one's prefix; of several for the same tracker, the first that can reach it. None if
 * it is unclear whose ticket it is.
 */
export function projectOfTicket(configs: readonly Config[], ticket: string): Config | undefined {
  const prefix = ticket.slice(0, Math.max(0, ticket.lastIndexOf('-'))).toUpperCase();
  if (sharedPrefixes(configs).has(prefix)) return undefined;
  const owners = configs.filter(
    (config) => prefix !== '' && ticketPrefixOf(config)?.toUpperCase() === prefix,
  );
  return owners.find((config) => trackerOf(config).provider !== undefined) ?? owners[0];
}

// The cache of a team's workflow states: display name to id.

/** In workflow order. Of two states with the same name the first counts. */
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
