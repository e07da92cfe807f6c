// Why a ticket is in its state: the rule, the facts, what it waits for, where the facts disagree, and what
// nobody knows.

import type { WorkerStatus } from '../../runs/signal-file.ts';
import type { Board } from '../board-shape.ts';
import type { Worker } from '../worker.ts';
import { contradictionsIn, unknownsIn } from './doubts.ts';
import type { Fact } from './evidence.ts';
import { factsOf } from './facts.ts';
import { ruleOf, waitOf } from './rule.ts';
import { createLookup, type Subject } from './subject.ts';

export type Why = {
  ticket: string;
  orchestrator: string | null;
  /** Unknown: the ticket is known, but no run has a worker for it. */
  status: WorkerStatus | 'unknown';
  since: string | null;
  rule: string;
  facts: Fact[];
  waitsFor: string | null;
  until: string | null;
  contradictions: string[];
  unknown: string[];
};

export function why(board: Board, worker: Worker, now: number): Why {
  return whyOf(board, createLookup(board).ofWorker(worker), now);
}

/** By name; the newest worker's when several runs have one. Undefined when nobody knows the ticket. */
export function whyTicket(board: Board, ticket: string, now: number, orchestrator?: string): Why | undefined {
  const subject = createLookup(board).ofTicket(ticket, orchestrator);
  return subject && whyOf(board, subject, now);
}

function whyOf(board: Board, subject: Subject, now: number): Why {
  const { ticket, worker } = subject;
  return {
    ticket,
    orchestrator: worker?.orchestrator ?? null,
    status: worker?.status ?? 'unknown',
    since: worker?.statusSince ?? null,
    rule: ruleOf(subject),
    facts: factsOf(subject),
    ...waitOf(subject),
    contradictions: contradictionsIn(subject),
    unknown: unknownsIn(board, subject, now),
  };
}
