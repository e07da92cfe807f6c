// Effects: what a line of the log causes. They are a pure function of the log, so they can be derived again; by their
// key, running one twice has the same result as once.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { EventDraft } from '../kernel/log/event-line.ts';
import type { DeployProgress } from './deploy/api.ts';
import type { MessageCause } from './workers/reaction-causes.ts';

/** The phases of a ticket in the workflow; `svc.tracker.stateMap` maps each to a tracker state. */
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
      /** The known fields of the pull request, merged into `pr` of the file. */
      pr: { number?: number; url?: string; state?: string; mergedAt?: string; mergeSha?: string } | null;
      deploy: DeployProgress | null;
    }
  | { kind: 'move-ticket'; ticket: string; phase: TicketPhase }
  /** Our own event: attention raised or resolved, or the progress of a deploy. Appended once, by the key. */
  | { kind: 'append'; draft: EventDraft }
  | { kind: 'refresh-pull-request'; repo: string; pr: number }
  | { kind: 'prove-descendant'; repo: string; mergeSha: string; sha: string; worktreePath: string | null }
  /** A merge commit failed its verification: files a ticket or a finding with what to fix. */
  | {
      kind: 'file-remediation';
      orchestrator: string;
      ticket: string;
      /** The project folder; null when unknown. */
      project: string | null;
      sha: string | null;
      summary: string | null;
      findings: string[];
    }
  /** Notifies the worker that checks failed, a reviewer requested changes, or its ticket was changed. */
  | {
      kind: 'message-worker';
      orchestrator: string;
      ticket: string;
      cause: MessageCause;
      /** Counts notifications of this cause, from 1; null for a change of the ticket. */
      number: number | null;
      /** Null for a change of the ticket. */
      repo: string | null;
      pr: number | null;
      /** The head commit concerned. */
      sha: string | null;
      reviewId: number | null;
      url: string | null;
      /** The message; text written by others is fenced and has no control characters. */
      text: string;
    }
  /** A label or an assignment in the tracker starts a run with one ticket. */
  | {
      kind: 'start-run';
      ticket: string;
      /** The project folder, as it is served. */
      project: string;
      repo: string;
      /** Who asked for it and who wrote the ticket, as the configuration names them. */
      actor: string;
      author: string;
      by: string | null;
      because: string;
      at: string;
    }
  /** A task becomes a ticket, and then a run. */
  | { kind: 'start-task'; task: string; place: 'tracker' | 'local'; project: string }
  /** A member of the team asks for it: executed if the owner of this machine allows it. */
  | { kind: 'team-command'; command: string; from: string }
  /** An attention item was opened: sends notifications. */
  | {
      kind: 'notify';
      attention: string;
      reason: string;
      severity: string;
      message: string;
      remedy: string | null;
    }
  /** A rule fired that sends a notification. */
  | { kind: 'notify-rule'; rule: string; ticket: string | null; severity: string; message: string }
  /** A rule fired that runs a command, with the line that it fired on. */
  | { kind: 'run-command'; rule: string; ticket: string | null; command: string; line: number }
);
