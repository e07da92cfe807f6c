// A run of the orchestrator as the log tells it.
import type { RunPlan } from '../orchestrate/plan.ts';

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
  maxParallel: number | null;
  waves: { wave: number; state: 'started' | 'completed' | 'blocked'; tickets: string[]; seq: number }[];
  lastSeq: number;
  lastAt: string;
};
