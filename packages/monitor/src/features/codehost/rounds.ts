// Polling by timer: a round finds whatever a delivery would have reported, minutes later.
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { Gh } from './gh.ts';
import type { CodehostProblem } from './problem.ts';

export const RECONCILE_EVERY_MS = 600_000;

export type RepoProblem = { repo: string; problem: CodehostProblem };

/** What a reconciliation did. `logged` counts new lines; the rest of what was found was in the log already. */
export type Reconciled = { checked: number; found: number; logged: number; problems: RepoProblem[] };

export type RoundParts = {
  gh: Gh;
  append: (draft: EventDraft) => Promise<{ duplicate: boolean }>;
  isCovered: (repo: string) => boolean;
  ticketPrefixes: () => readonly string[];
  now: () => number;
  /** The last line of the log. */
  lastSeq: () => number;
  /** Those that are watched. */
  repos: () => string[];
};

export type Rounds = {
  /**
   * Rejects only if the log is not writable; the next run finds the same differences. Without deploys only pull
   * requests are polled, many in one call. With `everyRepo` the newest pull requests are checked also where a webhook
   * reports them: it may be silent.
   */
  run: (what?: { deploys: boolean; everyRepo: boolean }) => Promise<Reconciled>;
  /** Calls made, and the additional calls that polling everything every 30 seconds would have made. */
  meter: () => { made: number; avoided: number };
};
