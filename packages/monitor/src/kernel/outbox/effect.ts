// Effects: what a line of the log causes. They are a pure function of the log, so they can be derived again; by their
// key, running one twice has the same result as once. Each feature adds its kinds to `Effects` by declaration merging, and
// the rules of the kinds in a table; `features/effect-kinds.ts` joins the tables.
import type { EventDraft } from '../log/event-line.ts';

/**
 * The fields of each kind.
 * @public
 */
export interface Effects {
  /** Our own event: attention raised or resolved, or the progress of a deploy. Appended once, by the key. */
  append: { draft: EventDraft };
}

/** `key` is unique and stable: `<seq of the cause>:<kind>:<subject>`. */
export type Effect = {
  [Kind in keyof Effects]: { key: string; seq: number; kind: Kind } & Effects[Kind];
}[keyof Effects];

// Effects that wait for the same thing share a lane, and each lane has its own slots. So a signal file, a line of the log
// or an attention item never waits behind calls to a service that is slow or down.

/** How many effects of each lane run at the same time. All effects with one order key are of one kind, so they are in one lane. */
export const laneSlots = {
  /** Files and the log of this machine. */
  local: 4,
  /** Agents and programs on this machine. */
  programs: 4,
  codehost: 4,
  tracker: 4,
  /** The services that notify people. */
  notifiers: 4,
} as const;

export type Lane = keyof typeof laneSlots;
export const lanes = Object.keys(laneSlots) as readonly Lane[];

export type EffectRules<Kind extends Effect['kind']> = {
  lane: Lane;
  /** Effects of a kind with one key run one at a time, in the order of their lines; absent if the order does not matter. */
  orderKey?: (effect: Extract<Effect, { kind: Kind }>) => string;
};

export type EffectKinds = { readonly [Kind in Effect['kind']]: EffectRules<Kind> };
