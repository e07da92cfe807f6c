// A run of the orchestrator as the log tells it.
import type { Blockers, RunPlan } from '../orchestrate/plan.ts';

export type Run = {
  orchestrator: string;
  name: string | null;
  /** Unknown: there are workers, but nobody told that a run began. */
  state: 'running' | 'paused' | 'completed' | 'canceled' | 'unknown';
  startedAt: string | null;
  endedAt: string | null;
  tickets: string[];
  /** How it was started; null for a run that somebody else conducts. */
  plan: RunPlan | null;
  /** What blocks a ticket, by ticket, where that was told. */
  blockedBy: Blockers | null;
  maxParallel: number | null;
  waves: { wave: number; state: 'started' | 'completed' | 'blocked'; tickets: string[]; seq: number }[];
  lastSeq: number;
  lastAt: string;
};
