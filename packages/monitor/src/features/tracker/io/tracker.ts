// The issue tracker as the rest of the product sees it. Each provider is a folder that implements `Tracker`; which one a
// project uses is decided by `trackerOf` (core) and opened by `openTracker`.
import { Failure, type FailureCode } from '../../../kernel/failure.ts';
import type { Severity } from '../../attention/severity.ts';
import type {
  TrackerIssueState,
  TrackerProblem,
  TrackerQuota,
  TrackerRelation,
  TrackerTeam,
  WorkflowState,
} from '../api-answer.ts';
import type { PolledIssue } from '../polled-issue.ts';
import type { WrittenTicket } from '../ticket-text.ts';

type UpdatedIssues = {
  /** Oldest update first. */
  issues: PolledIssue[];
  /** Where the next call continues. Issues updated in that same millisecond are returned again: none is missed. */
  cursor: string;
};

/** Every function makes few requests and repeats none; a failure is a TrackerError. */
export type Tracker = {
  /** A team, by key (`ABC`) or id, with all its workflow states; undefined if there is no such team. */
  teamStates: (team: string) => Promise<(TrackerTeam & { states: WorkflowState[] }) | undefined>;
  listTeams: () => Promise<TrackerTeam[]>;
  /**
   * All issues of a team updated since a time, including archived and trashed ones. A tracker where not every change
   * updates an issue also looks at the open ones that are given.
   */
  issuesUpdatedSince: (teamId: string, since: string, open?: readonly string[]) => Promise<UpdatedIssues>;
  /** An issue, by id or by name (`ABC-1`), with its state; undefined if there is no such issue. */
  issueState: (issue: string) => Promise<TrackerIssueState | undefined>;
  /** What was written in an issue, by id or by name, with its newest comments; undefined if there is no such issue. */
  issueText: (issue: string) => Promise<WrittenTicket | undefined>;
  /**
   * The issues of a team (`ABC`) with these numbers, each with its inverse relations: in a relation of type `blocks`,
   * `issue` blocks it. Issues that do not exist are left out.
   */
  issueBlockers: (
    team: string,
    numbers: readonly number[],
  ) => Promise<{ identifier: string; relations: TrackerRelation[] }[]>;
  /** Moves an issue, by id or by name (`ABC-1`), to a workflow state; returns the name of its state now, if known. */
  setIssueState: (issue: string, stateId: string) => Promise<string | undefined>;
  /** Where new tickets of the project are filed. */
  filing: TicketDestination;
  quota: () => TrackerQuota | undefined;
  calls: () => number;
};

// Where a ticket can be filed: a tracker, or the code host instead of it.

export type NewTicket = {
  /** Written into the text, to find the ticket again. */
  key: string;
  title: string;
  text: string;
  labels: readonly string[];
  severity: Severity;
};

export type FiledTicket = { filedAs: string; url: string };

export type TicketDestination = {
  name: 'tracker' | 'codehost';
  /** A description: `team ABC of the issue tracker`. */
  description: string;
  /** Tickets that may be filed at once. */
  atOnce: number;
  /** Checks whether tickets with these labels can be filed. Creates none. */
  prepare: (labels: readonly string[]) => Promise<void>;
  create: (ticket: NewTicket) => Promise<FiledTicket>;
  /** The ticket with this key, from an attempt not before `since` (milliseconds). */
  find: (key: string, since: number) => Promise<FiledTicket | undefined>;
};

/** What every function of a destination throws if it fails. */
export class NotFiled extends Error {
  /** Whether it is certain that no ticket was created. */
  readonly certain: boolean;
  readonly remedy: string | undefined;

  constructor(message: string, options: { certain: boolean; remedy?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'NotFiled';
    this.certain = options.certain;
    this.remedy = options.remedy;
  }
}

/** A tracker that is not set up fails like one that is down. */
export function notSetUp(why: string, remedy: string): TicketDestination {
  const refuse = (): Promise<never> => Promise.reject(new NotFiled(why, { certain: true, remedy }));
  const description = 'the issue tracker';
  return { name: 'tracker', description, atOnce: 1, prepare: refuse, create: refuse, find: refuse };
}

// A problem with the tracker as a failure for people: what happened, and what to do.

export class TrackerError extends Failure {
  readonly problem: TrackerProblem;

  /** Without words, those for a tracker with an API token. */
  constructor(problem: TrackerProblem, words?: { message: string; remedy: string }) {
    const { code, message, remedy } = { ...wordsFor(problem), ...words };
    super(code, message, remedy);
    this.name = 'TrackerError';
    this.problem = problem;
  }
}

const AGAIN = 'Run the same command again later; it continues where it stopped.';

function wordsFor(problem: TrackerProblem): { code: FailureCode; message: string; remedy: string } {
  switch (problem.kind) {
    case 'unauthorised':
      return {
        code: 'tracker-refused-token',
        message: `The issue tracker did not accept the API token: ${problem.message}.`,
        remedy:
          'Make a new API key at the tracker and store it: svc config set svc.tracker.apiToken - < token.txt',
      };
    case 'forbidden':
      return {
        code: 'tracker-refused-token',
        message: `The owner of the API token is not allowed to do this in the issue tracker: ${problem.message}.`,
        remedy:
          "Ask an admin of the tracker, or store an admin's key: svc config set svc.tracker.apiToken - < token.txt",
      };
    case 'rate-limited':
      return {
        code: 'tracker-quota-used-up',
        message: `The quota of the issue tracker is used up for another ${Math.ceil(problem.retryAfterMs / 1000)} s.`,
        remedy: AGAIN,
      };
    case 'unavailable':
      return {
        code: 'tracker-unavailable',
        message: `The issue tracker is unavailable: ${problem.message}.`,
        remedy: AGAIN,
      };
    case 'not-found':
    case 'graphql':
      return {
        code: 'tracker-error',
        message: `The issue tracker refused: ${problem.message}.`,
        remedy: 'If its message does not help, report this with the output of: svc --version',
      };
    case 'malformed':
      return {
        code: 'tracker-error',
        message: `The issue tracker sent an answer that svc cannot read: ${problem.message}.`,
        remedy: AGAIN,
      };
  }
}
