// What a line of the log asks to be done. Effects are a pure function of the log, so that they can be derived
// again; their key makes carrying one out twice the same as once.
import type { DeployProgress } from '../api/deploy.ts';
import type { EventDraft } from '../log/event-line.ts';
import type { ReactionCause } from '../orchestrate/reaction-causes.ts';
import type { WorkerStatus } from '../runs/signal-file.ts';

/** Of a ticket's way through the workflow; each has its state in `svc.tracker.stateMap`. */
export const ticketPhases = [
  'backlog',
  'todo',
  'research',
  'planning',
  'inProgress',
  'inReview',
  'done',
  'canceled',
] as const;
export type TicketPhase = (typeof ticketPhases)[number];

/** `key` is unique and stable: `<seq of the cause>:<kind>:<subject>`. */
export type Effect = { key: string; seq: number } & (
  | {
      kind: 'write-signal';
      orchestrator: string;
      ticket: string;
      status: WorkerStatus;
      /** What is known of the pull request, merged into the file's own `pr`. */
      pr: { number?: number; url?: string; state?: string; mergedAt?: string; mergeSha?: string } | null;
      deploy: DeployProgress | null;
    }
  | { kind: 'move-ticket'; ticket: string; phase: TicketPhase }
  /** A line of our own: attention raised or taken back, a deploy told. Appended once, by the key. */
  | { kind: 'append'; draft: EventDraft }
  | { kind: 'refresh-pull-request'; repo: string; pr: number }
  | { kind: 'prove-descendant'; repo: string; mergeSha: string; sha: string; worktreePath: string | null }
  /** A merged commit failed its verification: a ticket, or a finding, says what to mend. */
  | {
      kind: 'file-remediation';
      orchestrator: string;
      ticket: string;
      /** Folder of the project; null when nobody told. */
      project: string | null;
      sha: string | null;
      summary: string | null;
      findings: string[];
    }
  /** Checks of its pull request fail, or a reviewer wants changes: the worker is told. */
  | {
      kind: 'message-worker';
      orchestrator: string;
      ticket: string;
      cause: ReactionCause;
      /** Of its cause, from 1. */
      number: number;
      repo: string;
      pr: number;
      /** The head commit that it is about. */
      sha: string | null;
      reviewId: number | null;
      url: string | null;
      /** The message; what others wrote stands in fences, without control characters. */
      text: string;
    }
  /** An attention item was opened: whoever wants to be told is told. */
  | {
      kind: 'notify';
      attention: string;
      reason: string;
      severity: string;
      message: string;
      remedy: string | null;
    }
  /** A rule fired and wants somebody told. */
  | { kind: 'notify-rule'; rule: string; ticket: string | null; severity: string; message: string }
  /** A rule fired and wants a command run, with the line of the log that it fired on. */
  | { kind: 'run-command'; rule: string; ticket: string | null; command: string; line: number }
);
