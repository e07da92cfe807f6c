// What happens in the tape, and the way on which the world would tell it.
import type { EventFields, SignalFile } from '@svc/core';
import type { JsonObject } from '../payloads/example.ts';

/** A change of a signal file; `pr`, `cost` and `phaseTimestamps` are merged into what is there. */
export type SignalPatch = Partial<SignalFile>;

export type FactBody =
  /** A delivery of the code host; `found` when no delivery came and a poll found it. */
  | { way: 'codehost'; type: string; payload: (at: Date) => JsonObject; found?: boolean }
  | { way: 'tracker'; type: string; payload: (at: Date) => JsonObject }
  | { way: 'signal'; orchestrator: string; ticket: string; patch: (at: Date) => SignalPatch }
  /** A process that ended: told by whoever watches processes. */
  | { way: 'died'; orchestrator: string; ticket: string }
  /** A line of a helper. */
  | { way: 'event'; draft: (at: Date) => Pick<EventFields, 'event' | 'scope' | 'detail'> }
  /** A line of the daemon itself: only in the past; what is live, the daemon tells by itself. */
  | { way: 'daemon'; draft: (at: Date) => Pick<EventFields, 'event' | 'scope' | 'detail'> }
  /** What an agent prints, as lines of its stream file. */
  | { way: 'output'; orchestrator: string; ticket: string; lines: readonly object[] };

/** `at` is in minutes: 0 is eight in the morning of the day. */
export type Fact = { at: number } & FactBody;
